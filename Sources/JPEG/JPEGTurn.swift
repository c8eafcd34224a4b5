/// One of the eight ways to lay a picture down without cutting it.
public struct JPEGTurn: Sendable, Equatable, CaseIterable {
    /// First rows become columns.
    public let transposes: Bool
    /// Then left and right change sides.
    public let mirrors: Bool
    /// Then top and bottom change sides.
    public let flips: Bool

    /// As it is.
    public static let none = JPEGTurn(orientation: 1)
    /// Left and right change sides.
    public static let mirrored = JPEGTurn(orientation: 2)
    /// By 180 degrees.
    public static let half = JPEGTurn(orientation: 3)
    /// Top and bottom change sides.
    public static let flipped = JPEGTurn(orientation: 4)
    /// Mirrored at the diagonal through the top left corner.
    public static let transposed = JPEGTurn(orientation: 5)
    /// By 90 degrees to the right.
    public static let right = JPEGTurn(orientation: 6)
    /// Mirrored at the other diagonal.
    public static let transversed = JPEGTurn(orientation: 7)
    /// By 90 degrees to the left.
    public static let left = JPEGTurn(orientation: 8)

    /// The turn that makes a photo of this EXIF orientation upright (EXIF 2.32, tag 274: which sides
    /// of the scene row 0 and column 0 are); other numbers than 1 to 8 mean 1.
    public init(orientation: Int) {
        transposes = (5...8).contains(orientation)
        mirrors = [2, 3, 6, 7].contains(orientation)
        flips = [3, 4, 7, 8].contains(orientation)
    }

    init(transposes: Bool, mirrors: Bool, flips: Bool) {
        self.transposes = transposes
        self.mirrors = mirrors
        self.flips = flips
    }

    public static var allCases: [JPEGTurn] { (1...8).map(JPEGTurn.init(orientation:)) }
}
