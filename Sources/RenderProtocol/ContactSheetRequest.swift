public import Adjustments

/// Which small pictures to draw side by side.
public struct ContactSheetRequest: Sendable, Codable {
    /// One picture of the sheet.
    public struct Cell: Sendable, Codable {
        /// The photo: its place among the request's sources.
        public let source: Int
        /// The edit to show, or nil for the photo as it is.
        public let recipe: Recipe?
        /// What stands below, or nil.
        public let label: String?

        /// Makes a cell.
        public init(source: Int, recipe: Recipe? = nil, label: String? = nil) {
            self.source = source
            self.recipe = recipe
            self.label = label
        }
    }

    /// The pictures, in reading order; 1 to ``cellsMax``. Those that follow each other and are of one photo
    /// are made of one small copy.
    public let cells: [Cell]
    /// Pictures in a row.
    public let across: Int
    /// Longest side of a picture, in pixels.
    public let cellSide: Int
    /// What is refused.
    public let limits: RenderLimits

    /// Most pictures of one sheet.
    public static let cellsMax = 128
    /// Most photos of one sheet: each is an open file.
    public static let sourcesMax = 64
    /// Sides of a picture that can be asked for, in pixels.
    public static let cellSideRange = 32...1024

    /// Makes a request.
    public init(
        cells: [Cell], across: Int, cellSide: Int, limits: RenderLimits = RenderLimits()
    ) {
        self.cells = cells
        self.across = across
        self.cellSide = cellSide
        self.limits = limits
    }
}
