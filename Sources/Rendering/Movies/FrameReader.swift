import Edits
import PhotoFiles
import Codecs
import RenderProtocol

/// Decodes one part of a movie: its frames in presentation order.
///
/// Samples of the part are decoded in file order. Decoded frames of another part are skipped. A missing frame makes the movie
/// damaged.
struct FrameReader {
    private let movie: MovieFile
    private let part: MovieParts.Part
    private let decoder: VideoDecoder

    /// Opens a decoder.
    ///
    /// - Throws: `unsupportedFormat` if libavcodec has no decoder for such frames.
    init(_ movie: MovieFile, part: Int) throws(Failure) {
        self.movie = movie
        self.part = movie.parts[part]
        do throws(CodecError) {
            decoder = try movie.decoder(firstRank: self.part.frames.lowerBound)
        } catch {
            throw movie.failure(error)
        }
    }

    /// Decodes the frames.
    ///
    /// - Parameter body: receives each frame with its rank in the movie; returns false to stop.
    /// - Throws: `damagedVideo`, and errors of the body.
    func read(
        _ body: (DecodedFrame, Int) throws(Failure) -> Bool
    ) throws(Failure) {
        let byteRanges = movie.movie.samples.byteRanges
        var window = movie.file.window
        var next = part.frames.lowerBound
        let firstRank = movie.ranks[part.decoded.lowerBound]
        do {
            func receiveFrames() throws -> Bool {
                while let frame = try decoder.receive() {
                    guard part.frames.contains(frame.rank) else { continue }
                    // Leading pictures of the movie's first sample refer to pictures that were cut off, so no decoder outputs them.
                    // The first available picture replaces them.
                    while next < frame.rank, next < firstRank {
                        next += 1
                        guard try body(frame, next - 1) else { return false }
                    }
                    guard frame.rank == next else { throw MissingFrame(rank: next) }
                    next += 1
                    guard try body(frame, frame.rank) else { return false }
                }
                return true
            }
            for sample in part.decoded {
                let bytes = window.all(byteRanges[sample])
                guard bytes.count == byteRanges[sample].count else {
                    throw MissingFrame(rank: next)
                }
                try decoder.send(bytes, rank: movie.ranks[sample])
                guard try receiveFrames() else { return }
            }
            try decoder.finish()
            guard try receiveFrames() else { return }
            guard next == part.frames.upperBound else { throw MissingFrame(rank: next) }
        } catch let failure as Failure {
            throw failure
        } catch let error as CodecError {
            throw movie.failure(error)
        } catch {
            throw Failure(
                .damagedVideo,
                "\(movie.file.name) is a movie of which a frame cannot be decoded; it is damaged or cut off. Upload it "
                    + "again. (\(error))")
        }
    }

    /// A frame that the decoder did not output in its turn.
    private struct MissingFrame: Error, CustomStringConvertible {
        let rank: Int

        var description: String { "frame \(rank + 1) is missing" }
    }
}

extension MovieFile {
    /// Opens a decoder for samples of the video track.
    ///
    /// - Parameter firstRank: the rank of the first requested frame.
    func decoder(firstRank: Int) throws(CodecError) -> VideoDecoder {
        guard let name = VideoDecoder.Codec(rawValue: codec.kind.decoderName) else {
            throw CodecError(kind: .unsupported, step: "open \(codec.kind.decoderName)")
        }
        var container = VideoDecoder.Container()
        container.format = codec.format.bytes
        (container.width, container.height) = (codec.width, codec.height)
        container.reorderDepth = movie.samples.reorderDepth
        return try VideoDecoder(
            name, configuration: codec.configuration, container: container,
            firstRank: firstRank, limits: VideoDecoder.Limits(pixelsMax: file.limits.pixelsMax))
    }

    func failure(_ error: CodecError) -> Failure {
        switch error.kind {
        case .unsupported:
            Failure(
                .unsupportedFormat,
                "\(file.name) is a movie whose frames cannot be decoded here. Convert it; trying again does not "
                    + "help. (\(error))")
        case .damaged:
            Failure(
                .damagedVideo,
                "\(file.name) is a movie of which a frame cannot be decoded; it is damaged or cut off. Upload it "
                    + "again. (\(error))")
        case .memory:
            Failure(
                .outOfMemory,
                "There was not enough memory to decode \(file.name). Give the worker more memory. (\(error))"
            )
        }
    }
}
