import Foundation
import MinilabTesting
import Testing

@testable import PhotoFiles

@Suite("Movies with other samples") struct TransplantTests {
    /// A movie, its file, and what became of both.
    private struct Change {
        let source: [UInt8]
        let movie: Movie
        let result: [UInt8]
        let made: Movie

        /// Gives each sample so many bytes more, of a pattern that says which one it is.
        init(_ path: String, more: (Int) -> Int) throws {
            source = try MovieFixture.bytes(path)
            movie = try MovieFixture.movie(source)
            let samples = movie.samples
            let sizes = samples.sizes.indices.map { samples.sizes[$0] + more($0) }
            let transplant = try Transplant(
                movie,
                samples: .init(
                    sizes: sizes, ranks: samples.ranks, syncSamples: samples.syncSamples),
                entry: nil)
            let (source, byteRanges) = (source, samples.byteRanges)
            result = transplant.bytes(of: source) { index in
                let old = source[byteRanges[index]]
                return old.count < sizes[index]
                    ? old + [UInt8](repeating: UInt8(index & 0xFF), count: sizes[index] - old.count)
                    : Array(old.prefix(sizes[index]))
            }
            #expect(result.count == transplant.length)
            made = try MovieFixture.movie(result)
        }
    }

    /// Those that can be edited; that the others are refused another test sees.
    private static let movies = MovieFixture.paths.filter { path in
        (try? MovieFixture.movie(MovieFixture.bytes(path))) != nil
    }

    @Test(arguments: movies)
    func `keep the samples, their times and all other tracks when nothing else changes`(
        path: String
    ) throws {
        let change = try Change(path) { _ in 0 }
        try Self.compare(change)
        let byteRanges = (change.movie.samples.byteRanges, change.made.samples.byteRanges)
        for (old, new) in zip(byteRanges.0, byteRanges.1) {
            let isSame = change.source[old] == change.result[new]
            #expect(isSame, "sample at \(old)")
        }
    }

    @Test(arguments: movies)
    func `move what lies behind, whatever sizes new samples have`(path: String) throws {
        let change = try Change(path) { $0 % 3 * 5 - 2 }
        try Self.compare(change)
        for (index, range) in change.made.samples.byteRanges.enumerated() {
            let old = change.source[change.movie.samples.byteRanges[index]]
            let shared = min(old.count, range.count)
            let isSame = change.result[range].prefix(shared).elementsEqual(old.prefix(shared))
            #expect(isSame, "sample \(index)")
        }
    }

    private static func compare(_ change: Change) throws {
        let (old, new) = (change.movie, change.made)
        #expect(new.samples.times == old.samples.times)
        #expect(new.samples.decodeTimes == old.samples.decodeTimes)
        #expect(new.samples.syncSamples == old.samples.syncSamples)
        #expect(new.samples.chunks.map(\.samples) == old.samples.chunks.map(\.samples))
        #expect(new.tracks.map(\.id) == old.tracks.map(\.id))
        // moov stands in front.
        #expect(new.movieRange.lowerBound <= 64)
        for track in old.tracks where track.boxIndex != old.video.boxIndex {
            let offsets = (try offsets(of: track, in: old), try offsets(of: track, in: new))
            #expect(offsets.0.count == offsets.1.count)
            for (from, to) in zip(offsets.0, offsets.1) {
                // A chunk ends at the latest where samples of the video follow, or the media data end.
                let media = try #require(old.others.first { $0.content.contains(from) })
                let next = old.samples.chunks.map(\.offset).filter { $0 > from }.min()
                let count = min(next ?? .max, media.content.upperBound) - from
                let isSame =
                    change.result.count >= to + count
                    && change.source[from..<from + count].elementsEqual(
                        change.result[to..<to + count])
                #expect(isSame, "track \(track.id), chunk at \(from)")
            }
        }
    }

    private static func offsets(of track: MovieTrack, in movie: Movie) throws -> [Int] {
        let table = try #require(movie.box.boxes[track.boxIndex]["mdia", "minf", "stbl"])
        return try SampleTable.chunkOffsets(of: table)
    }

    @Test func `get eight bytes for an offset where the file is too long for four`() throws {
        let source = try MovieFixture.named("bt601.mp4")
        let movie = try MovieFixture.movie(source)
        var sizes = movie.samples.sizes
        sizes[0] = 5 << 30
        let made = try Transplant(
            movie,
            samples: .init(
                sizes: sizes, ranks: movie.samples.ranks, syncSamples: movie.samples.syncSamples),
            entry: nil)
        #expect(made.length > 5 << 30)
        let head = made.pieces.prefix(2).reduce(into: [UInt8]()) { bytes, piece in
            if case .bytes(let more) = piece { bytes += more }
            if case .source(let range) = piece { bytes += source[range] }
        }
        var file = FileWindow(head)
        let found = file.firstBox("moov", in: 0..<head.count)
        let moov = try #require(found)
        var count = 0
        let box = try MovieBox("moov", head[moov.content], MovieLimits(), count: &count)
        for track in box.boxes where track.type == "trak" {
            #expect(track["mdia", "minf", "stbl", "co64"] != nil)
            #expect(track["mdia", "minf", "stbl", "stco"] == nil)
        }
    }

    @Test func `another codec replaces the description, and nothing of the picture's colours`()
        throws
    {
        let source = try MovieFixture.named("bt601.mp4")
        let movie = try MovieFixture.movie(source)
        let entry = SampleEntry(format: "hvc1", configuration: ("hvcC", [1, 2, 3]))
        let byteRanges = movie.samples.byteRanges
        let result = try Transplant(movie, samples: nil, entry: entry)
            .bytes(of: source) { Array(source[byteRanges[$0]]) }
        let made = try MovieFixture.movie(result)
        #expect(made.video.formats == ["hvc1"])
        let stsd = try #require(made.box.boxes[made.video.boxIndex]["mdia", "minf", "stbl", "stsd"])
        let text = String(decoding: stsd.bytes.map { $0 < 128 ? $0 : 46 }, as: UTF8.self)
        #expect(text.contains("hvcC") && !text.contains("avcC"))
        #expect(text.contains("colr"))
    }

    @Test func `a turn changes the matrix and nothing else`() throws {
        let quarter = MovieMatrix(a: 0, b: 1, c: -1, d: 0)
        let source = try MovieFixture.named("bt601.mp4")
        let movie = try MovieFixture.movie(source)
        let byteRanges = movie.samples.byteRanges
        var turned = movie
        var bytes = source
        for orientation in [6, 3, 8, 1] {
            let matrix = try #require(turned.video.matrix).followed(by: quarter)
            #expect(matrix.orientation == orientation)
            let now = (turned, bytes, turned.samples.byteRanges)
            bytes = try Transplant(now.0, samples: nil, entry: nil, matrix: matrix)
                .bytes(of: now.1) { Array(now.1[now.2[$0]]) }
            turned = try MovieFixture.movie(bytes)
            #expect(turned.video.matrix == matrix)
        }
        let plain = try Transplant(movie, samples: nil, entry: nil)
            .bytes(of: source) { Array(source[byteRanges[$0]]) }
        let isSame = bytes == plain
        #expect(isSame)
    }
}
