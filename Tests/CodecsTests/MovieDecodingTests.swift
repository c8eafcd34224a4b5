import Boxes
import Codecs
import MinilabTesting
import Testing

@Suite("Movies, decoded") struct MovieDecodingTests {
    @Test(arguments: MovieFiles.good)
    func `have a frame for each sample, as ffmpeg has it`(path: String) throws {
        let frames = try DecodedMovie(path: path).checksums()
        #expect(frames.map(\.rank) == Array(frames.indices))
        #expect(frames.map(\.sum) == (try FFmpeg.frames(of: path)))
    }

    @Test(arguments: MovieFiles.damaged)
    func `are damaged where a sample contradicts itself`(path: String) throws {
        let error = #expect(throws: CodecError.self) {
            _ = try DecodedMovie(path: path).checksums()
        }
        #expect(error?.kind == .damaged)
    }

    @Test(arguments: MadeMovie.all)
    func `of any codec and format have the planes that ffmpeg has`(made: MadeMovie) throws {
        let folder = try TemporaryFolder()
        let path = try made.made(in: folder)
        let frames = try DecodedMovie(path: path).checksums()
        #expect(frames.map(\.rank) == Array(0..<12))
        #expect(frames.map(\.sum) == (try FFmpeg.frames(of: path, as: made.judged)))
    }

    /// Bytes are missing at the end of a sample, whose units say how long they would be.
    @Test(arguments: MadeMovie.all)
    func `are damaged where a sample ends early, in any codec`(made: MadeMovie) throws {
        let folder = try TemporaryFolder()
        let movie = try DecodedMovie(path: try made.made(in: folder))
        for share in [0.3, 0.6, 0.95] {
            let error = #expect(throws: CodecError.self, "\(share)") {
                try movie.decode { sample, bytes in
                    sample == 5 ? Array(bytes.prefix(Int(Double(bytes.count) * share))) : bytes
                } _: { _ in
                }
            }
            #expect(error?.kind == .damaged, "\(share)")
        }
    }
}
