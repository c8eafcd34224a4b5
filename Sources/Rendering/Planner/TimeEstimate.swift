import Edits
import RenderProtocol

/// An estimate of a render's processor time by its header and plan, within a factor of two for most.
///
/// The numbers are milliseconds per megapixel on a Zen 4 core with a release build, from the measurements of ``MemoryEstimate``.
enum TimeEstimate {
    /// The time to read a header, and to start and finish the lane.
    private static let start = 0.03
    /// The time by lane, with decoding and encoding a JPEG.
    private static let lanes: [RenderPlan.Lane: Double] = [
        .copy: 0.5, .lossless: 6, .planes: 7, .stream: 9, .spool: 12,
    ]
    /// The additional time to decode another format than JPEG.
    private static let decoders: [PhotoFormat: Double] = [
        .png: 20, .tiff: 10, .webp: 20, .heif: 40, .jxl: 60, .gif: 10, .raw: 250,
    ]
    /// The additional time to encode another format than JPEG, at the default quality; for TIFF per three bytes of a pixel.
    private static let encoders: [Recipe.Format: Double] = [
        .png: 20, .tiff: 20, .webp: 45, .heic: 110, .avif: 90, .jxl: 70,
    ]
    /// The factor for compression to a small file.
    private static let patience: [Recipe.Format: Double] = [.png: 16, .tiff: 4]

    /// The time of a movie's frame.
    private static let frames = 14.0
    /// The additional time for tiles of HEVC.
    private static let tiles = 11.0
    /// The additional time for a JPEG of several scans, and for one of CMYK.
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
                // All frames of a part: the shown frame may be its last one.
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

    /// Returns the time of a pass over a megapixel.
    ///
    /// - Parameter computes: whether position-dependent filters are computed for each pixel; the planes lane looks them up.
    static func milliseconds(of pass: Pass, _ computes: Bool = true) -> Double {
        switch pass {
        case .pixels: return computes && !pass.isPositionIndependent ? 20 : 3
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
