import Adjustments
import Boxes
import Codecs
import RenderProtocol

/// Decodes a part of a movie: its frames in the order in which they are shown.
///
/// Samples of the part are decoded in the order of the file. Frames that come out and belong to another part are left out; one that does not come out makes
/// the movie damaged.
struct FrameReader {
    private let movie: MovieFile
    private let segment: SegmentPlan.Segment
    private let decoder: VideoDecoder

    /// Opens a decoder.
    ///
    /// - Throws: `unsupportedFormat` when libavcodec has none for such frames.
    init(_ movie: MovieFile, segment: Int) throws(Failure) {
        self.movie = movie
        self.segment = movie.segments[segment]
        do throws(CodecError) {
            decoder = try movie.decoder(firstRank: self.segment.frames.lowerBound)
        } catch {
            throw movie.failure(error)
        }
    }

    /// Decodes.
    ///
    /// - Parameter body: gets each frame with its rank in the movie; false when no more are wanted.
    /// - Throws: `damagedVideo`, and what the body throws.
    func read(
        _ body: (DecodedFrame, Int) throws(Failure) -> Bool
    ) throws(Failure) {
        let places = movie.movie.samples.places
        var window = movie.file.window
        var next = segment.frames.lowerBound
        let firstRank = movie.ranks[segment.decoded.lowerBound]
        do {
            func take() throws -> Bool {
                while let frame = try decoder.receive() {
                    guard segment.frames.contains(frame.rank) else { continue }
                    // Leading pictures of the movie's first sample refer to what was cut off: no decoder shows them. Their places have the
                    // first picture that there is.
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
            for sample in segment.decoded {
                let bytes = window.all(places[sample])
                guard bytes.count == places[sample].count else { throw MissingFrame(rank: next) }
                try decoder.send(bytes, rank: movie.ranks[sample])
                guard try take() else { return }
            }
            try decoder.finish()
            guard try take() else { return }
            guard next == segment.frames.upperBound else { throw MissingFrame(rank: next) }
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

    /// A frame that did not come out of the decoder in its turn.
    private struct MissingFrame: Error, CustomStringConvertible {
        let rank: Int

        var description: String { "frame \(rank + 1) is missing" }
    }
}

extension MovieFile {
    /// A decoder for samples of the video track.
    ///
    /// - Parameter firstRank: of the frames that are wanted.
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

    /// The failure of decoding a frame.
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
