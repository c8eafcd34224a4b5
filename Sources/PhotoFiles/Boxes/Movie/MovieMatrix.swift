/// The turn and mirroring with which a track's pictures are displayed, as stored in `tkhd`.
///
/// Source: ISO/IEC 14496-12 §8.3.2 and the QuickTime File Format, "Matrices": (x, y) is displayed at (a·x + c·y + tx, b·x + d·y +
/// ty); a to d are 16.16 fixed-point numbers.
public struct MovieMatrix: Sendable, Hashable {
    /// Usually −1, 0 or 1.
    public let a, b, c, d: Int

    public static let upright = MovieMatrix(a: 1, b: 0, c: 0, d: 1)

    public init(a: Int, b: Int, c: Int, d: Int) { (self.a, self.b, self.c, self.d) = (a, b, c, d) }

    /// Creates the matrix that displays a picture like the EXIF orientation of this number.
    public init(orientation: Int) {
        switch orientation {
        case 2: self.init(a: -1, b: 0, c: 0, d: 1)
        case 3: self.init(a: -1, b: 0, c: 0, d: -1)
        case 4: self.init(a: 1, b: 0, c: 0, d: -1)
        case 5: self.init(a: 0, b: 1, c: 1, d: 0)
        case 6: self.init(a: 0, b: 1, c: -1, d: 0)
        case 7: self.init(a: 0, b: -1, c: -1, d: 0)
        case 8: self.init(a: 0, b: -1, c: 1, d: 0)
        default: self = .upright
        }
    }

    /// Whether rows become columns.
    public var swapsSides: Bool { a == 0 }

    /// Returns this matrix followed by another.
    public func followed(by next: MovieMatrix) -> MovieMatrix {
        MovieMatrix(
            a: a * next.a + b * next.c, b: a * next.b + b * next.d,
            c: c * next.a + d * next.c, d: c * next.b + d * next.d)
    }

    /// The number of the EXIF orientation that displays a picture in the same way: 1 to 8.
    public var orientation: Int {
        switch (a, b, c, d) {
        case (-1, 0, 0, 1): 2
        case (-1, 0, 0, -1): 3
        case (1, 0, 0, -1): 4
        case (0, 1, 1, 0): 5
        case (0, 1, -1, 0): 6
        case (0, -1, -1, 0): 7
        case (0, -1, 1, 0): 8
        default: 1
        }
    }

    private static let one = 0x10000
    /// The one of the last column: a 2.30 fixed-point number.
    private static let lastOne = 0x4000_0000
    static let length = 36

    /// Reads the nine numbers; nil unless they are a turn by quarters, possibly with a mirroring.
    init?(_ bytes: [UInt8]) {
        let numbers = [0, 4, 12, 16].map { bytes.signed(at: $0) }
        let parts = numbers.map { $0 / Self.one }
        guard numbers.allSatisfy({ [-Self.one, 0, Self.one].contains($0) }),
            abs(parts[0] * parts[3] - parts[1] * parts[2]) == 1,
            bytes.number(at: 8, 4) == 0, bytes.number(at: 20, 4) == 0
        else { return nil }
        self.init(a: parts[0], b: parts[1], c: parts[2], d: parts[3])
    }

    /// Returns the nine numbers, with a translation so that a picture of this size begins at 0, 0.
    func bytes(width: Int, height: Int) -> [UInt8] {
        let left = min(0, a * width) + min(0, c * height)
        let top = min(0, b * width) + min(0, d * height)
        var writer = ByteWriter()
        for row in [[a, b, 0], [c, d, 0], [-left, -top]] {
            for number in row { writer.add(number * Self.one, 4) }
        }
        writer.add(Self.lastOne, 4)
        return writer.bytes
    }
}
