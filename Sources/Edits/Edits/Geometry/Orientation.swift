/// One of the eight orientations of an uncropped picture, by its number in EXIF.
///
/// The number names the operation that makes a photo with this tag upright (EXIF 2.32, tag 274). Turns are clockwise.
public enum Orientation: Int, Sendable, Codable, CaseIterable {
    case upright = 1
    case mirrored, half, flipped, transposed, right, transversed, left

    /// Creates a clockwise turn by `quarters`, any integer.
    public init(quarters: Int) {
        self = [.upright, .right, .half, .left][(quarters % 4 + 4) % 4]
    }

    /// Whether width and height are swapped.
    public var swapsSides: Bool { rawValue >= 5 }

    public var inverse: Orientation {
        switch self {
        case .right: .left
        case .left: .right
        default: self
        }
    }

    /// Returns the size of a picture afterwards.
    public func size(of size: PixelSize) -> PixelSize {
        swapsSides ? PixelSize(width: size.height, height: size.width) : size
    }

    /// The dependence of x and y before on x and y after: [x on x, x on y, y on x, y on y].
    var signs: [Double] {
        switch self {
        case .upright: [1, 0, 0, 1]
        case .mirrored: [-1, 0, 0, 1]
        case .half: [-1, 0, 0, -1]
        case .flipped: [1, 0, 0, -1]
        case .transposed: [0, -1, -1, 0]
        case .right: [0, -1, 1, 0]
        case .transversed: [0, 1, 1, 0]
        case .left: [0, 1, -1, 0]
        }
    }

    /// Returns the map from points afterwards to points in a picture of `size`.
    func toSource(of size: PixelSize) -> Homography {
        let s = signs
        return Homography(
            affine: s[0], s[1], s[0] + s[1] < 0 ? Double(size.width) : 0,
            s[2], s[3], s[2] + s[3] < 0 ? Double(size.height) : 0)
    }

    /// In a few words.
    public var label: String {
        switch self {
        case .upright: "as it is"
        case .mirrored: "left and right swapped"
        case .half: "by 180°"
        case .flipped: "top and bottom swapped"
        case .transposed: "mirrored at the diagonal from the top left"
        case .right: "by 90° to the right"
        case .transversed: "mirrored at the diagonal from the top right"
        case .left: "by 90° to the left"
        }
    }
}
