/// A filter whose result at a pixel depends on that pixel alone, and perhaps on where it lies.
///
/// Consecutive ones are fused: each pixel of the photo is read once and written once.
public protocol PixelFilter: Sendable {
    /// Changes `pixels` in place: linear light, sRGB primaries, not multiplied by alpha, not
    /// clamped (Core Image's working space, except that its pixels are premultiplied there).
    ///
    /// Plain loops over the planes: the compiler vectorises them. SIMD4 with element access was
    /// five times slower.
    func apply(to pixels: PixelChunk)

    /// Whether the result depends on where the pixel lies. False unless a filter says otherwise: then
    /// each colour of a photo has to be computed only once.
    var usesPosition: Bool { get }

    /// Whether a pixel's alpha may become another one: then a photo without alpha gets some. False
    /// unless a filter says otherwise.
    var changesAlpha: Bool { get }
}

extension PixelFilter {
    public var usesPosition: Bool { false }
    public var changesAlpha: Bool { false }
}

/// Some pixels of one row in planes, small enough for the first-level cache.
///
/// The memory belongs to the caller and is gone after the call.
public struct PixelChunk {
    /// Most pixels of a chunk: four planes fill 4 KB of a 32 KB cache.
    public static let capacity = 256

    /// Pixels in this chunk, at least 1.
    public let count: Int
    /// The planes.
    public let red, green, blue: UnsafeMutablePointer<Float>
    /// Alpha, 0 to 1; ones where the photo has none.
    public let alpha: UnsafeMutablePointer<Float>
    /// Where the centre of the first pixel lies: from the left, in pixels. The next are 1 apart.
    public let x: Double
    /// Where their centres lie: from the bottom, in pixels.
    public let y: Double

    /// Makes a chunk of memory that the caller owns.
    public init(
        count: Int, red: UnsafeMutablePointer<Float>, green: UnsafeMutablePointer<Float>,
        blue: UnsafeMutablePointer<Float>, alpha: UnsafeMutablePointer<Float>, x: Double = 0.5,
        y: Double = 0.5
    ) {
        self.count = count
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
        self.x = x
        self.y = y
    }
}
