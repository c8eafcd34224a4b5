import Edits
import PhotoFiles
import Codecs
import Files
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
