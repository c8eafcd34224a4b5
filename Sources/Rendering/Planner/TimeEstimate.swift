import Adjustments
import RenderProtocol

/// How much processor time a render is likely to take, from what its header and plan say: good for an
/// order of magnitude.
///
/// Milliseconds per megapixel, measured with a release build on a JPEG of 12 megapixels: planes 8
/// to 11, lossless 7, blur of radius 10 13 to 21, straightening 55 to 64, PNG 160, HEIC 2000. AVIF, JPEG XL and
/// WebP were not measured.
enum TimeEstimate {
    /// The estimate in seconds.
    static func seconds(
        of passes: [Pass], lane: RenderPlan.Lane, header: PhotoHeader, size: PixelSize,
        output: OutputPlan
    ) -> Double {
        let megapixels = Double(header.storedSize.pixels) / 1e6
        var milliseconds: Double =
            switch lane {
            case .copy: 1
            case .lossless: 7
            case .planes: 9
            case .stream: 11
            case .spool: 14
            }
        if lane != .copy, lane != .lossless {
            for pass in passes {
                switch pass {
                case .pixels: milliseconds += 1
                case .neighbourhood: milliseconds += 6
                case .geometry: milliseconds += 45
                }
            }
        }
        let writing: Double =
            switch output.format {
            case .jpeg, .tiff: 0
            case .png, .webp: 150
            case .heic, .avif, .jxl: 2000
            }
        return (milliseconds * megapixels + writing * Double(size.pixels) / 1e6) / 1000
    }
}
