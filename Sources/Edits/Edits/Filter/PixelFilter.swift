/// A filter whose result at a pixel depends only on that pixel, and possibly on its position.
///
/// Consecutive ones are fused: each pixel of the photo is read once and written once.
public protocol PixelFilter: Sendable {
    /// Changes `pixels` in place: linear light, sRGB primaries, not multiplied by alpha, not clamped (Core Image's working space,
    /// except that its pixels are premultiplied there).
    ///
    /// Use plain loops over the planes: the compiler vectorises them. SIMD4 with element access was five times slower.
    func apply(to pixels: PixelChunk)

    /// Whether the result depends on the pixel's position. The default is false: each colour of a photo is then computed only once.
    var usesPosition: Bool { get }

    /// Whether a pixel's alpha may change, in which case a photo without alpha is given alpha. The default is false.
    var changesAlpha: Bool { get }
}

extension PixelFilter {
    public var usesPosition: Bool { false }
    public var changesAlpha: Bool { false }
}

/// Some pixels of one row in planes, small enough for the first-level cache.
///
/// The memory belongs to the caller and is invalid after the call.
public struct PixelChunk {
    /// The most pixels of a chunk: four planes fill 4 KB of a 32 KB cache.
    public static let capacity = 256

    /// Pixels in this chunk, at least 1.
    public let count: Int
    /// The planes.
    public let red, green, blue: UnsafeMutablePointer<Float>
    /// Alpha, 0 to 1; ones if the photo has none.
    public let alpha: UnsafeMutablePointer<Float>
    /// The centre of the first pixel, in pixels from the left. The centres of the next pixels are 1 apart.
    public let x: Double
    /// The centres of the pixels, in pixels from the bottom.
    public let y: Double

    /// Creates a chunk over memory of the caller.
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
