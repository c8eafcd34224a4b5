import Adjustments

/// A filter whose result at a pixel depends on that pixel alone.
///
/// To add one: write its file beside this one, and name it in ``makePixelFilter(_:isExact:)``; its
/// parameters are defined in `Adjustments`.
protocol PixelFilter: Sendable {
    /// Changes `pixels` in place: linear light, sRGB primaries, not multiplied by alpha, not
    /// clamped (Core Image's working space, except that its pixels are premultiplied there).
    ///
    /// Plain loops over the planes: the compiler vectorises them. SIMD4 with element access was
    /// five times slower.
    func apply(to pixels: PixelChunk)
}

/// Some pixels in planes, small enough for the first-level cache.
///
/// The memory belongs to the caller and is gone after the call.
struct PixelChunk {
    /// Most pixels of a chunk: three planes and an index fill 4 KB of a 32 KB cache.
    static let capacity = 256

    /// Pixels in this chunk.
    let count: Int
    /// The planes.
    let red, green, blue: UnsafeMutablePointer<Float>
    /// Room for a table index per pixel.
    let index: UnsafeMutablePointer<Int32>
}

/// The names of the catalogue that this target knows.
enum FilterName {
    static let sepiaTone = "CISepiaTone"
    static let colorInvert = "CIColorInvert"
    static let photoEffectMono = "CIPhotoEffectMono"
    static let edges = "CIEdges"
    static let motionBlur = "CIMotionBlur"
}

/// Makes the working form of a per-pixel filter.
///
/// - Parameter isExact: computes powers instead of looking them up; for 16-bit results.
func makePixelFilter(_ filter: Filter, isExact: Bool) -> any PixelFilter {
    switch filter.name {
    case FilterName.sepiaTone: SepiaTone(filter, isExact: isExact)
    case FilterName.colorInvert: ColorInvert()
    case FilterName.photoEffectMono: PhotoEffectMono()
    default: preconditionFailure("\(filter.name) is not a per-pixel filter")
    }
}
