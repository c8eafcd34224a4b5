public import Edits

/// The request for a contact sheet: small pictures side by side.
public struct ContactSheetRequest: Sendable, Codable {
    /// One picture of the sheet.
    public struct Cell: Sendable, Codable {
        /// The index of the photo among the request's sources.
        public let source: Int
        /// The edit to show, or nil for the photo as it is.
        public let recipe: Recipe?
        /// The text below the picture, or nil.
        public let label: String?

        /// Creates a cell.
        public init(source: Int, recipe: Recipe? = nil, label: String? = nil) {
            self.source = source
            self.recipe = recipe
            self.label = label
        }
    }

    /// The pictures, in reading order; 1 to ``cellsMax``. Consecutive pictures of one photo are made from one small copy.
    public let cells: [Cell]
    /// The number of pictures in a row.
    public let across: Int
    /// The longest side of a picture, in pixels.
    public let cellSide: Int
    /// The limits beyond which photos are refused.
    public let limits: RenderLimits

    /// The maximum number of pictures of one sheet.
    public static let cellsMax = 128
    /// The maximum number of photos of one sheet: each is an open file.
    public static let sourcesMax = 64
    /// The permitted longest sides of a picture, in pixels.
    public static let cellSideRange = 32...1024

    /// Creates a request.
    public init(
        cells: [Cell], across: Int, cellSide: Int, limits: RenderLimits = RenderLimits()
    ) {
        self.cells = cells
        self.across = across
        self.cellSide = cellSide
        self.limits = limits
    }
}
