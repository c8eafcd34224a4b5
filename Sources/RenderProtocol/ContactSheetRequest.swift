public import Adjustments

/// Which small pictures to draw side by side, and where to.
public struct ContactSheetRequest: Sendable, Codable {
    /// One picture of the sheet.
    public struct Cell: Sendable, Codable {
        /// Absolute path of the photo.
        public let source: String
        /// The edit to show, or nil for the photo as it is.
        public let recipe: Recipe?
        /// What stands below, or nil.
        public let label: String?

        /// Makes a cell.
        public init(source: String, recipe: Recipe? = nil, label: String? = nil) {
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
    /// Absolute path of the JPEG file to write.
    public let destination: String
    /// What is refused.
    public let limits: RenderLimits
    /// Absolute path of the folder of files that edits name by digest, or nil when there is none.
    public let resources: String?

    /// Most pictures of one sheet.
    public static let cellsMax = 128
    /// Sides of a picture that can be asked for, in pixels.
    public static let cellSideRange = 32...1024

    /// Makes a request.
    public init(
        cells: [Cell], across: Int, cellSide: Int, destination: String,
        limits: RenderLimits = RenderLimits(), resources: String? = nil
    ) {
        self.cells = cells
        self.across = across
        self.cellSide = cellSide
        self.destination = destination
        self.limits = limits
        self.resources = resources
    }
}
