import Codecs
import Edits
import Files
import FoundationEssentials
import PhotoFiles
import RenderProtocol

/// Encodes the frames of a part and writes its samples as they arrive.
final class MovieSampleWriter {
    private let movie: MovieFile
    private let encoder: VideoEncoder
    private let layout: FrameLayout
    private let target: OpenFile
    /// The unit that each key frame's sample begins with.
    private let lightUnit: [UInt8]
    /// Presentation times of frames, by their ranks.
    private let times: [Int]
    private var tail: MoviePartFile.Tail
    private var offset = 0
    private var isFirst = true

    /// Opens an encoder.
    ///
    /// - Parameters:
    ///   - layout: the layout of the frames.
    ///   - light: what the source's frames say of their light; the container takes precedence.
    ///   - quality: nil for the recipe's quality.
    /// - Throws: `internalError` if libavcodec cannot encode such frames.
    init(
        _ movie: MovieFile, _ photo: Photo, _ layout: FrameLayout,
        light: LightMetadata, quality: MovieCoding.Quality? = nil, to target: OpenFile
    ) throws(Failure) {
        (self.movie, self.layout, self.target) = (movie, layout, target)
        let output = photo.recipe.output
        let codec = try movie.codec(for: output.movie.codec, isDeep: layout.bits > 8)
        lightUnit = LightMetadata(
            masteringDisplay: movie.codec.masteringDisplay, contentLight: movie.codec.contentLight
        ).or(light).unit(codec)
        times = movie.movie.samples.times.sorted()
        var coding = MovieCoding(codec, quality: output.movie.quality ?? output.quality)
        if let quality { coding.quality = quality }
        do throws(CodecError) {
            encoder = try VideoEncoder(codec, movie.settings(coding, layout))
        } catch {
            throw Self.failure(error, movie)
        }
        let entry = SampleEntry(
            codec == .h264 ? .h264 : .hevc, parameterSets: encoder.parameterSets,
            chromaFormat: layout.chromaShift == (1, 1) ? 1 : layout.chromaShift == (1, 0) ? 2 : 3,
            bits: layout.bits, width: layout.width, height: layout.height)
        guard let entry else {
            throw Failure(
                .internalError, "the encoder of \(movie.file.name) returned no parameter sets.")
        }
        tail = MoviePartFile.Tail(entry, width: layout.width, height: layout.height)
    }

    /// Encodes the next frame.
    ///
    /// - Parameter fill: writes the frame's planes.
    func add(
        _ rank: Int, _ fill: ([VideoEncoder.Plane]) throws(Failure) -> Void
    ) throws(Failure) {
        var failure: Failure?
        do throws(CodecError) {
            try encoder.send(rank: rank, time: times[rank] - times[0], isKey: isFirst) { planes in
                do throws(Failure) {
                    try fill(planes)
                } catch {
                    failure = error
                }
            }
        } catch {
            throw failure ?? Self.failure(error, movie)
        }
        if let failure { throw failure }
        isFirst = false
        try writePackets()
    }

    /// Encodes the frames that are held back, and writes the description of all samples.
    func finish() throws(Failure) {
        do throws(CodecError) {
            try encoder.finish()
        } catch {
            throw Self.failure(error, movie)
        }
        try writePackets()
        try MoviePartFile.write(tail, at: offset, of: target)
    }

    private func writePackets() throws(Failure) {
        while true {
            let packet: VideoEncoder.Packet?
            do throws(CodecError) {
                packet = try encoder.receive()
            } catch {
                throw Self.failure(error, movie)
            }
            guard let packet else { return }
            let sample = (packet.isKey ? lightUnit : []) + packet.sample
            try target.write(sample, at: offset)
            if packet.isKey { tail.syncSamples.append(tail.sizes.count) }
            tail.sizes.append(sample.count)
            tail.ranks.append(packet.rank)
            offset += sample.count
        }
    }

    private static func failure(_ error: CodecError, _ movie: MovieFile) -> Failure {
        error.kind == .memory
            ? movie.failure(error)
            : Failure(.internalError, "\(movie.file.name) cannot be encoded: \(error).")
    }
}

/// Decodes, edits and encodes a part of a movie.
struct MoviePartWriter {
    private let photo: Photo
    private let movie: MovieFile
    /// The quality of the frames; nil for the recipe's quality.
    private let quality: MovieCoding.Quality?

    init(_ photo: Photo, _ movie: MovieFile, quality: MovieCoding.Quality? = nil) {
        (self.photo, self.movie, self.quality) = (photo, movie, quality)
    }

    /// Writes a part.
    ///
    /// - Parameters:
    ///   - target: receives a ``MoviePartFile``.
    ///   - progress: receives the number of frames done, at most ``ReplyBounds/frameReportsMax`` times.
    func write(
        _ part: Int, to target: OpenFile,
        progress: (RenderReply.Progress) throws(Failure) -> Void
    ) throws(Failure) {
        try target.cut(to: 0)
        let reader = try FrameReader(movie, part: part)
        let frames = movie.parts[part].frames
        let step = max(
            1, (frames.count + ReplyBounds.frameReportsMax - 1) / ReplyBounds.frameReportsMax)
        var samples: MovieSampleWriter?
        var editor: FrameEditor?
        var done = 0
        try reader.read { frame, rank throws(Failure) in
            if editor == nil {
                try movie.check(frame.layout)
                let made = try movie.editor(photo, of: frame.layout)
                editor = made
                samples = try MovieSampleWriter(
                    movie, photo, made.result, light: frame.light, quality: quality, to: target)
            }
            guard let editor, let samples else { return false }
            try samples.add(rank) { planes throws(Failure) in
                try editor.edit(frame, into: planes)
            }
            done += 1
            if done.isMultiple(of: step) { try progress(.frames(done)) }
            TestPoint.midRender.reach()
            return true
        }
        guard let samples else {
            throw Failure(.internalError, "a part of \(movie.file.name) has no frames.")
        }
        try samples.finish()
    }
}

/// A rendered part of a movie: the bytes of its samples, followed by their description.
///
/// The file consists of the samples in decoding order, a tail of JSON, the tail's length in 8 bytes (big-endian), and 8 bytes of
/// magic.
struct MoviePartFile {
    /// The description after the samples.
    struct Tail: Codable, Equatable {
        /// The sample description's type (`avc1`), and the type and content of the box with parameter sets (`avcC`).
        var format = "", configurationType = ""
        var configuration: [UInt8] = []
        var width = 0, height = 0
        /// Bytes of each sample, and its presentation rank in the movie.
        var sizes: [Int] = [], ranks: [Int] = []
        /// Indices of the samples at which decoding can begin.
        var syncSamples: [Int] = []

        /// Creates a description without samples.
        init(_ entry: SampleEntry, width: Int, height: Int) {
            format = entry.format.description
            configurationType = entry.configuration.type.description
            configuration = entry.configuration.content
            (self.width, self.height) = (width, height)
        }

        /// The sample description; nil if a type is invalid.
        var entry: SampleEntry? {
            guard let format = BoxType(format), let type = BoxType(configurationType) else {
                return nil
            }
            return SampleEntry(
                format: format, configuration: (type, configuration), width: width, height: height)
        }
    }

    let tail: Tail
    let entry: SampleEntry
    private let file: OpenFile

    private static let magic = Array("MLSEGM01".utf8)
    private static let endBytes = 16
    /// The most bytes of a tail: a frame takes some 20 bytes, and a limit allows a million frames.
    private static let tailBytesMax = 64 << 20
    /// Bytes that are copied together.
    private static let copiedBytes = 1 << 20

    /// Writes the tail after the samples.
    ///
    /// - Parameter offset: the end of the last sample.
    static func write(_ tail: Tail, at offset: Int, of file: OpenFile) throws(Failure) {
        var bytes: [UInt8]
        do {
            bytes = Array(try JSONEncoder().encode(tail))
        } catch {
            throw Failure(.internalError, "a part of a movie cannot be described: \(error)")
        }
        let length = bytes.count
        bytes += stride(from: 56, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: length >> $0)
        }
        try file.write(bytes + Self.magic, at: offset)
    }

    /// Reads the description of a part that was rendered before.
    ///
    /// - Parameter part: the expected part.
    /// - Throws: `internalError` if the file is no part, or another one.
    init(_ file: OpenFile, of part: MovieParts.Part) throws(Failure) {
        self.file = file
        let length = try file.length()
        let end = file.bytes(from: length - Self.endBytes, count: Self.endBytes)
        let tailBytes = end.prefix(8).reduce(0) { $0 &<< 8 | Int($1) }
        let samplesBytes = length - Self.endBytes - tailBytes
        guard end.count == Self.endBytes, end.suffix(8).elementsEqual(Self.magic),
            (1...Self.tailBytesMax).contains(tailBytes), samplesBytes >= 0
        else { throw Self.refusal("is none") }
        do {
            tail = try JSONDecoder().decode(
                Tail.self, from: Data(file.bytes(from: samplesBytes, count: tailBytes)))
        } catch {
            throw Self.refusal("has an end that cannot be read: \(error)")
        }
        let frames = part.frames
        var sum = 0
        for size in tail.sizes {
            guard (0...samplesBytes).contains(size) else { throw Self.refusal("is cut off") }
            sum += size
        }
        guard tail.sizes.count == frames.count, tail.ranks.sorted() == Array(frames),
            sum == samplesBytes, tail.syncSamples.first == 0,
            tail.syncSamples.allSatisfy({ (0..<frames.count).contains($0) }),
            let entry = tail.entry
        else { throw Self.refusal("is of other frames than the movie's") }
        self.entry = entry
    }

    /// Copies samples.
    ///
    /// - Parameters:
    ///   - samples: their indices in the part.
    ///   - offset: the offset in the target; advanced past the samples.
    func copy(_ samples: Range<Int>, to target: OpenFile, at offset: inout Int) throws(Failure) {
        var from = tail.sizes[..<samples.lowerBound].reduce(0, +)
        let end = from + tail.sizes[samples].reduce(0, +)
        while from < end {
            let bytes = file.bytes(from: from, count: min(end - from, Self.copiedBytes))
            guard !bytes.isEmpty else { throw Self.refusal("is cut off") }
            try target.write(bytes, at: offset)
            from += bytes.count
            offset += bytes.count
        }
    }

    private static func refusal(_ what: String) -> Failure {
        Failure(
            .internalError,
            "The file of a part of the movie \(what). The job is retried. Keep the movie for a report."
        )
    }
}
