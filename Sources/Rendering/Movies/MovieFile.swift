import Codecs
import Edits
import Filters
import PhotoFiles
import RenderProtocol

/// A movie's open file: its tables, and its division into parts.
struct MovieFile {
    let file: PhotoFile
    let movie: Movie
    let parts: [MovieParts.Part]
    let ranks: [Int]
    /// The codec of its frames, and the decoder's configuration.
    let codec: MovieCodec

    /// Reads the tables; nil if the file is a photo.
    ///
    /// - Throws: `damagedVideo`, `unsupportedFormat` or `exceedsLimit`, before a frame is decoded.
    init?(_ file: PhotoFile, limits: RenderLimits) throws(Failure) {
        guard file.format == .movie else { return nil }
        self.file = file
        var window = file.window
        do throws(MovieProblem) {
            movie = try Movie(
                &window, limits: MovieLimits(limits), isMotionPhoto: file.isMotionVideo)
            parts = try MovieParts(
                movie.samples, timeScale: movie.video.timeScale, isWhole: file.isMotionVideo
            ).parts
            codec = try MovieCodec(movie.video)
        } catch {
            throw Failure(error, of: file.name, limits)
        }
        ranks = movie.samples.ranks
    }

    /// The turn with which frames are shown; upright if the matrix is not a turn by quarters.
    var orientation: Orientation {
        Orientation(rawValue: movie.video.matrix?.orientation ?? 1) ?? .upright
    }

    /// Whether samples have more than 8 bits, by the sample description; ProRes has 10 or 12.
    var isDeep: Bool { codec.kind == .prores || codec.bits ?? 8 > 8 }

    /// The mean number of frames a second, at least 1.
    var rate: Double { max(1, Double(ranks.count) / max(seconds, 1e-3)) }

    /// The duration of the frames.
    var seconds: Double {
        let samples = movie.samples
        let end = (samples.decodeTimes.last ?? 0) + samples.lastDuration
        return Double(end) / Double(movie.video.timeScale)
    }

    var facts: MovieFacts {
        MovieFacts(
            container: movie.isQuickTime ? .mov : .mp4,
            codec: movie.video.formats[0].description, frames: ranks.count, seconds: seconds,
            segments: parts.count)
    }

    func header() -> PhotoHeader {
        let (width, height) = movie.video.frameSize
        return PhotoHeader(
            format: .movie, storedSize: PixelSize(width: width, height: height),
            orientation: orientation.rawValue, bands: 3, bitsPerSample: isDeep ? 16 : 8,
            hasAlpha: false, hasProfile: false, chroma: .half, rowsAtOnce: height,
            contentIdentifier: MovieIdentifier.identifier(in: file.window), movie: facts,
            notes: notes)
    }

    private var notes: [String] {
        let matrix =
            movie.video.matrix == nil
            ? ["the movie's matrix is no turn by quarters; frames are edited as they are stored"]
            : []
        let others =
            movie.otherVideos.isEmpty
            ? [] : ["its \(movie.otherVideos.count) other video tracks are left out"]
        return matrix + others + MovieCodec.Extra.allCases.filter(codec.extras.contains).map(\.note)
    }

    /// Returns the part with the frame that is shown at a time, and the frame's rank.
    ///
    /// - Parameter seconds: from the beginning; a time after the end selects the last frame.
    func frame(at seconds: Double) -> (part: Int, rank: Int) {
        let samples = movie.samples
        let shown = samples.times.sorted()
        let first = shown.first ?? 0
        let time = first + Int(min(seconds, 1e6) * Double(movie.video.timeScale))
        let rank = max(0, (shown.firstIndex { $0 > time } ?? shown.count) - 1)
        let part = parts.firstIndex { $0.frames.contains(rank) } ?? parts.count - 1
        return (part, rank)
    }
}

extension MovieFile {
    /// The codecs whose frames may have fields or alpha of which the container says nothing: ffmpeg writes no `fiel` for H.264 and
    /// MPEG-4, and ProRes 4444 may or may not have alpha.
    private static let toldByFrames: Set<MovieCodec.Kind> = [.h264, .mpeg4, .prores]

    /// Returns whether frames have fields and alpha, by the container and the first frame. A frame that cannot be decoded is for the
    /// render to report.
    private func streamContents() -> (fields: Bool, alpha: Bool) {
        var found = (fields: codec.isInterlaced == true, alpha: codec.hasAlpha)
        guard Self.toldByFrames.contains(codec.kind) else { return found }
        do {
            try FrameReader(self, part: 0).read { frame, _ throws(Failure) in
                if codec.isInterlaced == nil { found.fields = frame.isInterlaced }
                if codec.kind == .prores { found.alpha = frame.hasAlpha }
                return false
            }
        } catch { return found }
        return found
    }

    /// Bits and chroma of the frames, which are those of the result: by the container, else by the first frame. A frame that cannot be decoded
    /// is for the render to report.
    func sampling() -> (chroma: Recipe.Chroma, bits: Recipe.BitDepth) {
        var chroma = codec.chroma
        var bits = codec.bits ?? 8
        // libavcodec reads ProRes 4444 with 12 bits, and others with 10.
        if codec.kind == .prores { bits = chroma == 3 ? 12 : 10 }
        if chroma == nil {
            do {
                try FrameReader(self, part: 0).read { frame, _ throws(Failure) in
                    let shift = frame.layout.chromaShift
                    chroma = shift == (1, 1) ? 1 : shift == (1, 0) ? 2 : 3
                    return false
                }
            } catch { chroma = 1 }
        }
        let sampling: Recipe.Chroma =
            switch chroma {
            case 2: .halfColumns
            case 3: .full
            default: .half
            }
        return (sampling, bits > 10 ? .twelve : bits > 8 ? .ten : .eight)
    }

    /// Returns the contents that a render omits: those that only its streams have are kept if no frame is encoded again.
    func leftOut(in lane: RenderPlan.Lane) -> [Companion] {
        guard lane != .copy else { return [] }
        var others: Set<Companion> = movie.otherVideos.isEmpty ? [] : [.otherPictures]
        if !movie.credentials.isEmpty { others.insert(.contentCredentials) }
        if lane != .lossless {
            if codec.extras.contains(.secondView) { others.insert(.secondEye) }
            let found = streamContents()
            if found.fields { others.insert(.fields) }
            if found.alpha { others.insert(.alpha) }
        }
        return others.sorted { $0.rawValue < $1.rawValue }
    }
}

extension MovieCodec.Extra {
    /// A readable note about the loss of this data when frames are encoded again.
    fileprivate var note: String {
        switch self {
        case .dolbyVision:
            "Dolby Vision's description of how to show the frames is left out where they are encoded again"
        case .secondView: "the view of the other eye is left out where frames are encoded again"
        }
    }
}

extension MovieFile {
    /// Returns the codec of the result. HEVC stays HEVC, more than 8 bits become HEVC, and everything else becomes H.264, which all
    /// players support.
    ///
    /// - Throws: `invalidValue` for H.264 of more than 8 bits.
    func codec(
        for asked: Recipe.Movie.Codec, isDeep: Bool
    ) throws(Failure) -> VideoEncoder.Codec {
        switch asked {
        case .source: return codec.kind == .hevc || isDeep ? .hevc : .h264
        case .hevc: return .hevc
        case .h264:
            guard !isDeep else {
                throw Failure(
                    .invalidValue,
                    "edit.output.movie.codec is h264, but \(file.name) has more than 8 bits for each sample, which few players "
                        + "know in H.264. Ask for hevc, or leave it out.")
            }
            return .h264
        }
    }

    /// Returns the encoder's settings, which are the same for all parts.
    ///
    /// - Parameter layout: the layout of the encoded frames.
    func settings(
        _ coding: MovieCoding, _ layout: FrameLayout
    ) -> VideoEncoder.Settings {
        let samples = movie.samples
        let units = (samples.decodeTimes.last ?? 0) + samples.lastDuration
        var settings = coding.settings(
            layout, unitsPerSecond: .init(movie.video.timeScale),
            framesPerSecond: Self.fraction(ranks.count * movie.video.timeScale, of: units),
            keyDistance: max(1, Int((rate * Self.keySeconds).rounded())))
        // A duration below a frame's says nothing about the rate, so at least `secondsMin` is assumed.
        let bits = Double(samples.sizes.reduce(0, +)) * 8 / max(seconds, Self.secondsMin)
        let most = Int(min(max(bits * Self.rateFactor, Self.rateMin), Self.rateMax))
        settings.rate = (max: most, buffer: most)
        return settings
    }

    /// The longest distance between key frames, in seconds.
    private static let keySeconds = 2.0
    /// The result has at most twice the source's bits per second, but at least the minimum that a small picture needs.
    private static let rateFactor = 2.0
    private static let rateMin = 2e6
    private static let rateMax = 8e8
    private static let secondsMin = 0.04

    /// Returns a positive fraction whose numbers have 31 bits.
    private static func fraction(_ numerator: Int, of denominator: Int) -> VideoEncoder.Fraction {
        var (numerator, denominator) = (max(1, numerator), max(1, denominator))
        while max(numerator, denominator) > Int(Int32.max) {
            (numerator, denominator) = (max(1, numerator >> 1), max(1, denominator >> 1))
        }
        return VideoEncoder.Fraction(numerator, of: denominator)
    }

    /// Rejects frames whose size or sample type differs from the tables, because the plan relies on them.
    func check(_ layout: FrameLayout) throws(Failure) {
        let (width, height) = movie.video.frameSize
        guard (layout.width, layout.height) == (width, height) else {
            throw Failure(
                .damagedVideo,
                "\(file.name) is a movie whose frames have \(layout.width)×\(layout.height) pixels where its tables say "
                    + "\(width)×\(height). Convert it.")
        }
        guard (layout.bits > 8) == isDeep else {
            throw Failure(
                .damagedVideo,
                "\(file.name) is a movie whose frames have \(layout.bits) bits for each sample where its tables say "
                    + "\(isDeep ? "more than 8" : "8"). Convert it.")
        }
    }

    func editor(_ photo: Photo, of layout: FrameLayout) throws(Failure) -> FrameEditor {
        try FrameEditor(
            photo.recipe, layout: layout, colour: colour(of: layout), upright: orientation,
            staysUpright: photo.recipe.output.movie.bakeRotation, limits: photo.opened.limits,
            resources: photo.opened.resources)
    }

    /// Returns the frame at a time as an sRGB picture in stored orientation: 8 bits, or 16 for a movie of more than 8.
    ///
    /// Light above white, as in HLG and PQ, is clipped.
    ///
    /// - Parameter seconds: from the beginning; a time after the end selects the last frame.
    /// - Throws: `VipsError` or `Failure`.
    func poster(at seconds: Double) throws -> Image {
        let wanted = frame(at: seconds)
        var picture: PosterPicture?
        try FrameReader(self, part: wanted.part).read { frame, rank throws(Failure) in
            guard rank == wanted.rank else { return true }
            picture = PosterPicture(frame, try colour(of: frame.layout), isDeep: isDeep)
            return false
        }
        guard let picture else {
            throw Failure(
                .damagedVideo,
                "\(file.name) is a movie without the frame at \(seconds) s. Upload it again.")
        }
        return try Image.over(
            UnsafeRawBufferPointer(picture.samples), of: picture, width: picture.width,
            height: picture.height,
            bands: 3, format: isDeep ? .ushort : .uchar,
            interpretation: isDeep ? "rgb16" : "srgb")
    }

    /// Returns the meaning of frames' codes, by the sample description first, then the stream.
    func colour(of layout: FrameLayout) throws(Failure) -> FrameColour {
        try FrameColour(
            of: layout,
            container: FrameColour.Declaration(
                primaries: codec.colour?.primaries, transfer: codec.colour?.transfer,
                matrix: codec.colour?.matrix, isFullRange: codec.colour?.isFullRange),
            stream: FrameColour.Declaration(
                primaries: layout.primaries, transfer: layout.transfer, matrix: layout.matrix,
                isFullRange: layout.isFullRange))
    }
}

/// A frame as sRGB red, green and blue.
private final class PosterPicture: Sendable {
    let width: Int, height: Int
    nonisolated(unsafe) let samples: UnsafeMutableRawBufferPointer
    private let isDeep: Bool

    /// Entries of the tables between a channel's codes and light; values between them are interpolated.
    private static let entries = 4096

    init(_ frame: DecodedFrame, _ colour: FrameColour, isDeep: Bool) {
        (width, height) = (frame.layout.width, frame.layout.height)
        self.isDeep = isDeep
        samples = .allocate(byteCount: width * height * 3 * (isDeep ? 2 : 1), alignment: 16)
        let equations = colour.equations(white: 1)
        let light = Table<Float>(count: Self.entries + 2) {
            Float(min(colour.transfer.linear(Double($0) / Double(Self.entries)), 1))
        }
        let most: Double = isDeep ? 65_535 : 255
        // Indexed by the square root of light, so that dark codes are as finely resolved as light ones.
        let codes = Table<Float>(count: Self.entries + 2) {
            let root = Double($0) / Double(Self.entries)
            return Float(ToneCurve.sRGB.encoded(min(root * root, 1)) * most)
        }
        let matrix = (colour.toWorking?.rows ?? [1, 0, 0, 0, 1, 0, 0, 0, 1]).map { Float($0) }
        let shift = frame.layout.chromaShift
        let (luma, blue, red) = (frame.planes[0], frame.planes[1], frame.planes[2])
        let hasByteSamples = frame.layout.sampleBytes == 1
        func code(_ plane: DecodedFrame.Plane, _ x: Int, _ y: Int) -> Float {
            let row = plane.start + y * plane.stride
            return hasByteSamples
                ? Float(row.load(fromByteOffset: x, as: UInt8.self))
                : Float(row.load(fromByteOffset: 2 * x, as: UInt16.self))
        }
        for y in 0..<height {
            for x in 0..<width {
                let grey = (code(luma, x, y) - equations.black) * equations.scale
                let b = code(blue, x >> shift.x, y >> shift.y) - equations.zero
                let r = code(red, x >> shift.x, y >> shift.y) - equations.zero
                let pixel = (
                    Self.value(light, grey + equations.redByRed * r),
                    Self.value(light, grey - equations.greenByBlue * b - equations.greenByRed * r),
                    Self.value(light, grey + equations.blueByBlue * b)
                )
                for band in 0..<3 {
                    let row = 3 * band
                    let amount =
                        matrix[row] * pixel.0 + matrix[row + 1] * pixel.1
                        + matrix[row + 2] * pixel.2
                    store(
                        Self.value(codes, max(0, amount).squareRoot()),
                        at: 3 * (y * width + x) + band)
                }
            }
        }
    }

    deinit { samples.deallocate() }

    private func store(_ code: Float, at index: Int) {
        if isDeep {
            samples.storeBytes(of: UInt16(code + 0.5), toByteOffset: 2 * index, as: UInt16.self)
        } else {
            samples.storeBytes(of: UInt8(code + 0.5), toByteOffset: index, as: UInt8.self)
        }
    }

    private static func value(_ table: Table<Float>, _ position: Float) -> Float {
        let position = max(0, min(1, position)) * Float(entries)
        let entry = Int(position)
        let low = table.values[entry]
        return low + (table.values[entry + 1] - low) * (position - Float(entry))
    }

}
