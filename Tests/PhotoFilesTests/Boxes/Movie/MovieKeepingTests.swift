import Testing

@testable import PhotoFiles

/// Bytes of movies that are easily lost.
@Suite("What a movie keeps") struct MovieKeepingTests {
    private static let entry = SampleEntry(
        format: "avc1", configuration: (type: "avcC", content: [1, 2, 3]), width: 64, height: 48)

    /// A sample description with an aperture, and bytes behind its boxes.
    private static func description(_ end: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.add([UInt8](repeating: 0, count: SampleEntry.header))
        writer.box("avcC") { $0.add([9, 9]) }
        writer.box("clap") { $0.add([UInt8](repeating: 7, count: 32)) }
        writer.box("pasp") { $0.add([0, 0, 0, 1, 0, 0, 0, 1]) }
        writer.add(end)
        var bytes = writer.bytes
        bytes.replaceSubrange(4..<8, with: BoxType("avc1").bytes)
        bytes[3] = UInt8(bytes.count)
        return bytes
    }

    /// QuickTime ends the list with a zero of four bytes, and says nothing of what else may be there.
    @Test(arguments: [[], [0, 0, 0, 0], [0, 0, 0, 0, 5], [1, 2, 3]] as [[UInt8]])
    func `is what stands behind the boxes of a sample description`(end: [UInt8]) {
        let old = Self.description(end)
        let new = Self.entry.replacing(old[...])
        #expect(new.suffix(end.count).elementsEqual(end))
        #expect(new[...].number(at: 0, 4) == new.count)
        #expect(new.count == old.count + 1)
        let uncut = SampleEntry.without("clap", old[...])
        #expect(uncut.suffix(end.count).elementsEqual(end))
        #expect(uncut[...].number(at: 0, 4) == uncut.count && uncut.count == old.count - 40)
    }

    /// A track that has been made and never filled.
    @Test func `is a video track without samples, beside the one that is shown`() throws {
        let source = try MovieFixture.named("h265_bframes.mp4")
        let movie = try MovieFixture.movie(source)
        let track = movie.box.boxes[movie.video.boxIndex]
        var empty = track
        empty.change("mdia", "minf", "stbl") { table in
            for (index, box) in table.boxes.enumerated() where box.type != "stsd" {
                let header = box.type == "stsz" ? 12 : 8
                table.boxes[index].bytes = [UInt8](repeating: 0, count: header)
            }
        }
        func with(_ tracks: [MovieBox]) throws -> Movie {
            var box = movie.box
            box.boxes.replaceSubrange(movie.video.boxIndex...movie.video.boxIndex, with: tracks)
            var writer = ByteWriter()
            box.write(to: &writer)
            // At the end, so that no sample moves.
            var bytes = source
            bytes.replaceSubrange(
                movie.movieRange.lowerBound + 4..<movie.movieRange.lowerBound + 8,
                with: BoxType("free").bytes)
            return try MovieFixture.movie(bytes + writer.bytes)
        }
        for tracks in [[empty, track], [track, empty]] {
            let found = try with(tracks)
            #expect(found.samples == movie.samples && found.tracks.count == 2)
        }
        #expect(throws: MovieProblem.self) { try with([track, track]) }
        #expect(throws: MovieProblem.self) { try with([empty]) }
    }
}
