public import Edits

/// The plan of one photo's render, as data that can be printed and compared.
public struct RenderPlan: Sendable, Codable, Equatable {
    /// The way in which the original is read.
    public let lane: Lane
    /// The EXIF orientation of the original; the passes make it upright.
    public let orientation: Int
    public let resultSize: PixelSize
    /// The passes over the photo, in order. Consecutive per-pixel filters share a pass.
    public let passes: [Pass]
    /// The parameters with which the result is written.
    public let output: OutputPlan
    /// The number of threads that compute pixels; the result is the same for any number.
    public let threads: Int
    /// The restriction that keeps the render within its memory limit.
    public let rung: MemoryRung
    /// The likely needs of the render.
    public var estimate: RenderEstimate
    /// The treatment of the photo's gain map; nil if it has none.
    public let gainMap: GainMapOutcome?
    /// The treatment of the video of a motion photo; nil if it has none.
    public var motionVideo: MotionVideoOutcome?
    /// Other parts of the photo's file that the result does not contain; nil for none.
    public var leftOut: [Companion]?
    /// The plan of a movie; nil for a photo.
    public let movie: MoviePlan?
    /// Notes for people, such as the page of several that is rendered, or the reason why a cheaper lane was not used.
    public var notes: [String]

    /// A way of reading the original.
    public enum Lane: String, Sendable, Codable {
        /// The file is copied without decoding, because nothing is changed.
        case copy
        /// The file is copied without decoding, but for the metadata that are written.
        case metadata
        /// The coefficients of a JPEG, which the passes cut and turn without decoding.
        case lossless
        /// The luma and chroma of a JPEG or HEIC as they are stored, without conversion to RGB, for a JPEG of the same sampling.
        case planes
        /// From top to bottom, once, with a few strips in memory.
        case stream
        /// In any order: decoded first, into memory if small, otherwise into a spool file.
        case spool
    }

    /// One pass over the photo.
    public enum Pass: Sendable, Codable, Equatable {
        /// Per-pixel filters: each pixel is read once and written once.
        case pixels([PixelStep])
        /// One filter that reads neighbours within `rows` above and below and `columns` beside.
        case neighbourhood(Filter, columns: Int, rows: Int)
        /// Crops, turns, scales and distortions, folded into one.
        case geometry(Geometry)
    }

    /// Per-pixel filters that are computed together.
    public struct PixelStep: Sendable, Codable, Equatable {
        /// The filters, as the recipe names them.
        public let filters: [Filter]
        /// The form into which they were merged; nil for a filter that was not merged.
        public let joined: Joined?

        /// The forms into which filters can be merged.
        public enum Joined: String, Sendable, Codable {
            /// One matrix in linear light.
            case matrix
            /// One table from linear light to linear light.
            case curve
            /// Matrices of encoded values, with a single encoding and decoding.
            case encodedMatrices
            /// The filters change nothing and are left out.
            case nothing
        }

        public init(filters: [Filter], joined: Joined? = nil) {
            self.filters = filters
            self.joined = joined
        }
    }

    public init(
        lane: Lane, orientation: Int, resultSize: PixelSize, passes: [Pass], output: OutputPlan,
        threads: Int = 1, rung: MemoryRung = .usual, estimate: RenderEstimate = .nothing,
        gainMap: GainMapOutcome? = nil, motionVideo: MotionVideoOutcome? = nil,
        leftOut: [Companion]? = nil,
        movie: MoviePlan? = nil, notes: [String] = []
    ) {
        self.lane = lane
        self.orientation = orientation
        self.resultSize = resultSize
        self.passes = passes
        self.output = output
        self.threads = threads
        self.rung = rung
        self.estimate = estimate
        self.gainMap = gainMap
        self.motionVideo = motionVideo
        self.leftOut = leftOut
        self.movie = movie
        self.notes = notes
    }
}

extension RenderPlan {
    public var companions: Companions {
        Companions(gainMap: gainMap, motionVideo: motionVideo, leftOut: leftOut)
    }

    /// Returns the plan for a render that had to leave out the video of a motion photo.
    public func droppingMotionVideo(_ reason: String) -> RenderPlan {
        var plan = self
        plan.motionVideo = .dropped(reason: reason)
        plan.leftOut = Set((leftOut ?? []) + [.motionVideo]).sorted { $0.rawValue < $1.rawValue }
        plan.notes.append("the video of the motion photo is left out: \(reason)")
        return plan
    }
}

extension RenderPlan.Lane {
    /// Whether the file's own picture is kept, with all that is beside it.
    public var keepsFile: Bool { self == .copy || self == .metadata }

    /// The description for people.
    public var text: String {
        switch self {
        case .copy: "copied as it is, since nothing changes"
        case .metadata: "copied but for its metadata, since nothing else changes"
        case .lossless: "a JPEG's coefficients are cut and turned, not compressed again"
        case .planes: "luma and chroma as they are stored, from top to bottom"
        case .stream: "from top to bottom, a few rows in memory"
        case .spool: "in any order: kept in memory while small, else in a spool file"
        }
    }

    /// The description for a movie.
    fileprivate var movieText: String {
        switch self {
        case .copy, .metadata: text
        case .lossless: "its matrix is turned, and no sample is touched"
        case .planes: "luma and chroma of each frame as they are stored"
        case .stream, .spool: "each frame by rows of light"
        }
    }
}

extension RenderPlan: CustomStringConvertible {
    /// One line per step, for people.
    public var description: String {
        let lane = "\(lane.rawValue) (\(movie == nil ? lane.text : lane.movieText))"
        var lines = notes.map { "note: \($0)" } + ["lane: \(lane)"]
        if orientation != 1 { lines.append("EXIF orientation \(orientation) is made upright") }
        for pass in passes {
            switch pass {
            case .pixels(let steps):
                lines.append("pixels: " + steps.map(\.description).joined(separator: " + "))
            case .neighbourhood(let filter, let columns, let rows):
                lines.append("neighbours ±\(columns)×±\(rows): \(filter)")
            case .geometry(let geometry): lines.append("geometry: \(geometry)")
            }
        }
        lines.append("write: \(resultSize), \(output)")
        if let gainMap { lines.append("gain map: \(gainMap)") }
        if let motionVideo { lines.append("motion video: \(motionVideo)") }
        if let leftOut {
            lines.append("left out: " + leftOut.map(\.text).joined(separator: ", "))
        }
        if let movie {
            lines.append("movie: \(movie)")
        } else {
            lines.append("needs: \(estimate), \(threads) thread\(threads == 1 ? "" : "s")")
        }
        return lines.joined(separator: "\n")
    }
}

extension MoviePlan: CustomStringConvertible {
    /// One line for people.
    public var description: String {
        guard let codec else { return "\(frames) frames, of which no sample is touched" }
        let parts = segments == 1 ? "1 segment" : "\(segments) segments"
        return "\(frames) frames as \(codec.rawValue) in \(parts), each \(segment)"
    }
}

extension Companion {
    /// The name for people.
    fileprivate var text: String {
        switch self {
        case .depth: "the map of depth"
        case .motionVideo: "the video of the motion photo"
        case .secondEye: "the picture for the other eye"
        case .matte: "mattes or the path of a cut-out"
        case .otherPictures: "further pictures"
        case .frames: "the other frames"
        case .alpha: "the transparency"
        case .fields: "the fields of interlaced frames"
        case .exif: "EXIF"
        case .xmp: "part of the XMP"
        case .iptc: "IPTC"
        case .texts: "the texts of a PNG"
        case .contentCredentials:
            "the Content Credentials (C2PA), which are about the unedited file"
        }
    }
}

extension RenderPlan.PixelStep: CustomStringConvertible {
    /// The filters, and in brackets the form into which several of them were merged.
    public var description: String {
        let names = filters.map(\.description).joined(separator: " + ")
        guard let joined, filters.count > 1 || joined == .nothing else { return names }
        let form =
            switch joined {
            case .matrix: "as one matrix"
            case .curve: "as one curve"
            case .encodedMatrices: "encoded once"
            case .nothing: "changes nothing"
            }
        return "[\(names): \(form)]"
    }
}

/// The facts of a movie from its tables, before any frame is decoded.
public struct MovieFacts: Sendable, Codable, Equatable {
    /// `mov` or `mp4`. The result has the same container.
    public let container: Recipe.Format
    /// The codec of its frames, as named in the file: `hvc1`, `avc1` …
    public let codec: String
    /// The number of frames of the video track, including hidden ones.
    public let frames: Int
    /// The duration of the frames, in seconds.
    public let seconds: Double
    /// The number of parts that are decoded and encoded independently.
    public let segments: Int

    /// Creates a record; control characters are removed from the codec's name.
    public init(
        container: Recipe.Format, codec: String, frames: Int, seconds: Double, segments: Int
    ) {
        self.container = container
        self.codec = ReplyBounds.text(codec)
        (self.frames, self.seconds, self.segments) = (frames, seconds, segments)
    }
}

public struct MoviePlan: Sendable, Codable, Equatable {
    /// The codec of the result's frames; nil if the samples are not changed.
    public let codec: Recipe.Movie.Codec?
    /// The number of frames, and of the parts in which they are rendered.
    public let frames: Int, segments: Int
    /// The likely need of one part. The plan's own estimate covers only the joining of the parts.
    public let segment: RenderEstimate

    public init(
        codec: Recipe.Movie.Codec?, frames: Int, segments: Int, segment: RenderEstimate
    ) {
        (self.codec, self.frames, self.segments) = (codec, frames, segments)
        self.segment = segment
    }

    /// The processor time of all parts.
    public var cpuSeconds: Double { segment.cpuSeconds * Double(segments) }
}

/// The parameters with which the result is written, with every choice made.
public struct OutputPlan: Sendable, Codable, Equatable {
    public let format: Recipe.Format
    /// The quality of a lossy format, 0 to 1.
    public var quality: Double
    /// The chroma subsampling of the encoder.
    public var chroma: Recipe.Chroma
    /// Whether the picture appears coarsely first while it loads.
    public let progressive: Bool
    public let bitDepth: Recipe.BitDepth
    /// The compression of a lossless format; nil for a format with a quality.
    public let compression: Recipe.Compression?
    /// Whether transparency is kept; otherwise the picture is composited over ``background``.
    public let keepsAlpha: Bool
    /// The background of transparent parts.
    public let background: Recipe.Background
    /// The colour space of the numbers.
    public let colorSpace: Recipe.ColorSpace
    /// The parts of the metadata that are left out.
    public let strip: Recipe.Strip
    /// The names of the fields that are written into the metadata, for people; nil for none.
    public var written: [String]?

    public init(
        format: Recipe.Format, quality: Double, chroma: Recipe.Chroma, progressive: Bool,
        bitDepth: Recipe.BitDepth, compression: Recipe.Compression? = nil, keepsAlpha: Bool,
        background: Recipe.Background,
        colorSpace: Recipe.ColorSpace, strip: Recipe.Strip, written: [String]? = nil
    ) {
        self.written = written
        self.format = format
        self.quality = quality
        self.chroma = chroma
        self.progressive = progressive
        self.bitDepth = bitDepth
        self.compression = compression
        self.keepsAlpha = keepsAlpha
        self.background = background
        self.colorSpace = colorSpace
        self.strip = strip
    }
}

extension OutputPlan: CustomStringConvertible {
    /// One line for people that names all parameters that differ from the usual ones.
    public var description: String {
        var labels = ["\(format.rawValue)", "\(bitDepth.rawValue) bit"]
        if format.isLossy { labels += ["quality \(quality)", chroma.rawValue] }
        switch compression {
        case .uncompressed: labels.append("uncompressed")
        case .small: labels.append("compressed with patience")
        case .fast, nil: break
        }
        if progressive { labels.append("progressive") }
        if keepsAlpha { labels.append("with alpha") }
        if colorSpace != .source { labels.append("as \(colorSpace.rawValue)") }
        switch strip {
        case .none: break
        case .gps: labels.append("without the location")
        case .all: labels.append("without metadata")
        }
        if let written { labels.append("with its own \(written.joined(separator: ", "))") }
        return labels.joined(separator: ", ")
    }
}
