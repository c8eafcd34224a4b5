import Adjustments
import RenderProtocol

/// How much processor time a render takes, from what its header and plan say: within a factor of two for most.
///
/// Milliseconds per megapixel on a core of Zen 4 with a release build, from the same measurements as the memory's.
enum TimeEstimate {
    /// Reading a header, and starting and ending the lane.
    private static let start = 0.03
    /// By lane, with decoding and encoding a JPEG.
    private static let lanes: [RenderPlan.Lane: Double] = [
        .copy: 0.5, .lossless: 6, .planes: 7, .stream: 9, .spool: 12,
    ]
    /// Decoding what is no JPEG, beyond one.
    private static let decoders: [PhotoFormat: Double] = [
        .png: 20, .tiff: 10, .webp: 20, .heif: 40, .jxl: 60, .gif: 10, .raw: 250,
    ]
    /// Encoding what is no JPEG, beyond one, at the default quality; a TIFF for three bytes of a pixel.
    private static let encoders: [Recipe.Format: Double] = [
        .png: 20, .tiff: 20, .webp: 45, .heic: 110, .avif: 90, .jxl: 70,
    ]
    /// How many times as long it takes to compress with patience.
    private static let patience: [Recipe.Format: Double] = [.png: 16, .tiff: 4]

    /// A frame of a movie.
    private static let frames = 14.0
    /// Tiles of HEVC, beyond a JPEG.
    private static let tiles = 11.0
    /// A JPEG of several scans, beyond one; and one of CMYK.
    private static let scans = 15.0, inks = 60.0

    /// The estimate in seconds.
    static func seconds(of shape: Shape) -> Double {
        let photo = Double(shape.photo.storedSize.pixels) / 1e6
        let edited = Double(shape.edited.storedSize.pixels) / 1e6
        let result = Double(shape.size.pixels) / 1e6
        var milliseconds = (lanes[shape.lane] ?? 0) * photo
        if shape.photo.format == .jpeg, shape.photo.isDecodedWhole {
            milliseconds += scans * photo
        }
        if shape.lane != .copy, shape.lane != .lossless {
            let computes = shape.lane != .planes
            for pass in shape.passes {
                milliseconds += Self.milliseconds(of: pass, computes) * edited
            }
        }
        if [.planes, .stream, .spool].contains(shape.lane) {
            let isHEVC = shape.photo.isTiledHEIF || shape.lane == .planes
            let decoding =
                shape.photo.format == .heif && isHEVC ? tiles : decoders[shape.photo.format]
            milliseconds += (decoding ?? 0) * photo
            if let movie = shape.photo.movie {
                // All frames of a part, if the one that is shown is its last.
                milliseconds += frames * Double(movie.frames / movie.segments + 1) * photo
            }
        }
        if shape.lane == .stream || shape.lane == .spool {
            // A conversion by an ICC profile.
            if shape.photo.format == .jpeg, shape.photo.bands == 4 { milliseconds += inks * photo }
            let bytes = shape.output.format == .tiff ? Double(shape.encodedBytes) / 3 : 1
            milliseconds += encoder(of: shape.output) * bytes * result
            if shape.output.bitDepth != .eight { milliseconds += 40 * result }
        }
        return start + milliseconds / 1000
    }

    private static func encoder(of output: OutputPlan) -> Double {
        let usual = encoders[output.format] ?? 0
        return switch output.compression {
        case .uncompressed: 0
        case .small: usual * (patience[output.format] ?? 1)
        case .fast, nil: usual
        }
    }

    /// A pass over a megapixel.
    ///
    /// - Parameter computes: whether filters that care for places compute each pixel; planes look them up.
    static func milliseconds(of pass: Pass, _ computes: Bool = true) -> Double {
        switch pass {
        case .pixels: return computes && !pass.isPlaceless ? 20 : 3
        case .neighbourhood: return 12
        case .geometry(let geometry):
            return switch geometry.kind {
            case .identity, .crop, .turn: 1
            case .scale: 8
            case .warp: 20
            }
        }
    }
}
