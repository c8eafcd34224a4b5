/// One of the eight orientations of an uncropped picture.
public struct JPEGTurn: Sendable, Equatable, CaseIterable {
    /// Whether rows first become columns.
    public let transposes: Bool
    /// Whether left and right are then swapped.
    public let mirrors: Bool
    /// Whether top and bottom are then swapped.
    public let flips: Bool

    /// No change.
    public static let none = JPEGTurn(orientation: 1)
    /// Left and right swapped.
    public static let mirrored = JPEGTurn(orientation: 2)
    /// By 180 degrees.
    public static let half = JPEGTurn(orientation: 3)
    /// Top and bottom swapped.
    public static let flipped = JPEGTurn(orientation: 4)
    /// Mirrored along the diagonal through the top left corner.
    public static let transposed = JPEGTurn(orientation: 5)
    /// By 90 degrees clockwise.
    public static let right = JPEGTurn(orientation: 6)
    /// Mirrored along the other diagonal.
    public static let transversed = JPEGTurn(orientation: 7)
    /// By 90 degrees counter-clockwise.
    public static let left = JPEGTurn(orientation: 8)

    /// Creates the turn that makes a photo of this EXIF orientation upright (EXIF 2.32, tag 274, which defines the sides of the
    /// scene at row 0 and column 0). Numbers outside of 1 to 8 mean 1.
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
