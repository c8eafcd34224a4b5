import PhotoFiles
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

    /// Every sync sample begins a part: no time at all is what they are apart at least.
    private static func compareParts(_ movie: DecodedMovie) throws -> Int {
        let whole = try movie.checksums()
        let plan = try MovieParts(movie.movie.samples, timeScale: 0)
        for part in plan.parts {
            let frames = try movie.checksums(part.decoded, firstRank: part.frames.lowerBound)
                .filter { $0.rank < part.frames.upperBound }
            #expect(frames.map(\.rank) == Array(part.frames), "\(part)")
            #expect(frames.map(\.sum) == whole[part.frames].map(\.sum), "\(part)")
        }
        return plan.parts.count
    }

    @Test(arguments: MovieFiles.good)
    func `have the same frames part by part`(path: String) throws {
        let movie = try DecodedMovie(path: path)
        let samples = movie.movie.samples
        // Where each frame is a sync sample, a few of them tell as much; and frames of one time are in no order.
        guard samples.syncSamples.count <= 60, Set(samples.times).count == samples.times.count
        else { return }
        _ = try Self.compareParts(movie)
    }

    @Test(arguments: [
        MadeMovie(
            "H.264, open", MadeMovie.h264 + " -bf 3 -x264-params open-gop=1:keyint=8:scenecut=0"),
        MadeMovie(
            "HEVC, open",
            MadeMovie.hevc + ":open-gop=1:keyint=8:bframes=3:scenecut=0 -pix_fmt yuv420p"),
        MadeMovie("MPEG-4", "-c:v mpeg4 -bf 2 -g 8 -q:v 4"),
        MadeMovie(
            "AV1", "-c:v libaom-av1 -cpu-used 8 -crf 30 -g 8 -threads 1 -pix_fmt yuv420p -f mp4"),
    ])
    func `have the same frames part by part in open groups`(made: MadeMovie) throws {
        let folder = try TemporaryFolder()
        let movie = try DecodedMovie(path: try made.made(in: folder, frames: 30))
        #expect(try Self.compareParts(movie) >= 3)
    }

    /// A unit of a picture is gone, and nothing says that there was one.
    @Test(arguments: [
        MadeMovie(
            "H.264, slices", MadeMovie.h264 + " -bf 2 -x264-params slices=4 -pix_fmt yuv420p"),
        MadeMovie(
            "H.264, slices of fields",
            MadeMovie.h264 + " -flags +ildct+ilme -x264-params tff=1:slices=2 -pix_fmt yuv420p"),
        MadeMovie(
            "H.264, slices of 10 bit",
            MadeMovie.h264 + " -x264-params slices=3 -pix_fmt yuv420p10le"),
        MadeMovie(
            "HEVC, slices", MadeMovie.hevc + ":pools=1:slices=3:ctu=32:bframes=2 -pix_fmt yuv420p"),
        MadeMovie(
            "HEVC, slices of 10 bit",
            MadeMovie.hevc + ":pools=1:slices=3:ctu=32 -pix_fmt yuv420p10le"),
    ])
    func `are damaged where a slice of a picture is missing`(made: MadeMovie) throws {
        let folder = try TemporaryFolder()
        let movie = try DecodedMovie(path: try made.made(in: folder, frames: 8))
        let isHEVC = movie.codec.kind == .hevc
        var removed = 0
        for sample in 0..<movie.ranks.count {
            let units = Self.units(of: Array(movie.bytes[movie.movie.samples.byteRanges[sample]]))
            let slices = units.indices.filter {
                let type = isHEVC ? units[$0][4] >> 1 & 63 : units[$0][4] & 31
                return isHEVC ? type < 32 : (1...5).contains(type)
            }
            #expect(slices.count > 1)
            for slice in slices {
                removed += 1
                let error = #expect(throws: CodecError.self, "unit \(slice) of sample \(sample)") {
                    try movie.decode { index, bytes in
                        guard index == sample else { return bytes }
                        return units.indices.filter { $0 != slice }.flatMap { units[$0] }
                    } _: { _ in
                    }
                }
                #expect(error?.kind == .damaged)
            }
        }
        #expect(removed > 8)
    }

    /// Units with their lengths in four bytes.
    private static func units(of sample: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var rest = sample[...]
        while rest.count > 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            units.append(Array(rest.prefix(4 + length)))
            rest = rest.dropFirst(4 + length)
        }
        return units
    }
}
