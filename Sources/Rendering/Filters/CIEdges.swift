import Adjustments
import Vips

/// CIEdges, a look-alike: the edges of the photo in colour on black.
///
///     out = clamp(intensity · √(gx² + gy²) / 4)    per linear channel, 3×3 Sobel differences
///
/// Apple's kernel is unpublished and no sample of it was found: never claim that this is equal.
/// Outside the photo its outermost pixels go on. Alpha stays as it is, and the edges are those of
/// the picture multiplied by alpha.
struct Edges: Sendable {
    private let gain: Float

    init(_ filter: Filter) { gain = Float(filter.value("inputIntensity") / 4) }

    /// Computes a rectangle from one that is a pixel wider on each side. Samples are Floats.
    func run(_ input: RegionPixels, _ output: RegionPixels, bands: Int) {
        for row in 0..<output.area.height {
            let above = input.row(row).assumingMemoryBound(to: Float.self)
            let here = input.row(row + 1).assumingMemoryBound(to: Float.self)
            let below = input.row(row + 2).assumingMemoryBound(to: Float.self)
            let out = output.row(row).assumingMemoryBound(to: Float.self)
            for i in 0..<output.area.width * bands {
                let (left, middle, right) = (i, i + bands, i + 2 * bands)
                let gx =
                    above[right] + 2 * here[right] + below[right]
                    - (above[left] + 2 * here[left] + below[left])
                let gy =
                    below[left] + 2 * below[middle] + below[right]
                    - (above[left] + 2 * above[middle] + above[right])
                let edge = gain * (gx * gx + gy * gy).squareRoot()
                out[i] = edge < 1 ? edge : 1
            }
            guard bands == 4 else { continue }
            for pixel in 0..<output.area.width {
                let alpha = here[(pixel + 1) * 4 + 3]
                out[pixel * 4 + 3] = alpha
                for channel in 0..<3 { out[pixel * 4 + channel] *= alpha }
            }
        }
    }
}
