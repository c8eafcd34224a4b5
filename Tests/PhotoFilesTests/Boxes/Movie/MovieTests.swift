import MinilabTesting
import Testing

@testable import PhotoFiles

@Suite("Movies, by their boxes") struct MovieTests {
    @Test func `are read with their tracks, times and sync samples`() throws {
        let movie = try MovieFixture.movie(MovieFixture.named("edit_list_positive_shift.mp4"))
        #expect(movie.tracks.map(\.handler) == ["vide", "soun"])
        #expect(!movie.isQuickTime)
        #expect((movie.video.width, movie.video.height) == (1920, 1080))
        #expect(movie.video.formats == ["avc1"] && movie.video.timeScale == 15_360)
        #expect(movie.samples.sizes.count == 270)
        #expect(movie.samples.syncSamples.first == 0)
        #expect(Set(movie.samples.times).count == 270)
    }

    @Test func `may show frames in another order than they are decoded in`() throws {
        let samples = try MovieFixture.movie(MovieFixture.named("h265_bframes.mp4")).samples
        #expect(samples.sizes.count == 30)
        #expect(samples.decodeTimes == samples.decodeTimes.sorted())
        #expect(samples.ranks != Array(0..<30))
        #expect(samples.ranks.sorted() == Array(0..<30))
    }

    @Test(arguments: [
        ("sample_fragmented.mp4", MovieProblem.Kind.unsupported),
        ("sample_partially_fragmented.mp4", .unsupported),
        ("mp4parse-bipbop_cbcs_video_init.mp4", .unsupported),
        ("sample_missing_stsd.mp4", .damaged), ("mp4ff-init_truncated.mp4", .damaged),
        ("IMG_3582_edited.moov.mov", .damaged),
    ])
    func `that are not edited here say why before a frame is decoded`(
        name: String, kind: MovieProblem.Kind
    ) throws {
        guard let path = MovieFixture.paths.first(where: { $0.hasSuffix(name) }) else { return }
        let problem = #expect(throws: MovieProblem.self) {
            try MovieFixture.movie(MovieFixture.bytes(path))
        }
        #expect(problem?.kind == kind, "\(String(describing: problem))")
    }

    @Test func `beyond a limit name it, with what was found`() throws {
        let bytes = try MovieFixture.named("edit_list_positive_shift.mp4")
        let cases: [(WritableKeyPath<MovieLimits, Int>, Int, String)] = [
            (\.movieFrames, 269, "movieFrames"), (\.movieSeconds, 8, "movieSeconds"),
            (\.tracks, 1, "tracks"), (\.boxes, 20, "boxes"),
            (\.movieBoxBytes, 100, "movieBoxBytes"),
        ]
        for (path, value, name) in cases {
            var limits = MovieLimits()
            limits[keyPath: path] = value
            let problem = #expect(throws: MovieProblem.self) {
                try MovieFixture.movie(bytes, limits: limits)
            }
            guard case .limit(name, let found)? = problem?.kind else {
                Issue.record("\(String(describing: problem))")
                continue
            }
            #expect(found > value)
            #expect(problem?.description.contains("\(value)") == true)
        }
    }

    @Test func `that are cut off anywhere are damaged or whole, and nothing traps`() throws {
        for name in MovieFixture.names {
            let bytes = try MovieFixture.named(name)
            var file = FileWindow(bytes)
            var borders = Set(stride(from: 0, to: bytes.count, by: max(1, bytes.count / 300)))
            for box in file.boxes(in: 0..<bytes.count) {
                borders.formUnion([box.range.lowerBound, box.content.lowerBound])
                for inner in file.boxes(in: box.content) {
                    borders.formUnion([inner.range.lowerBound, inner.content.lowerBound])
                }
            }
            for end in borders {
                #expect(throws: MovieProblem.self, "\(name) up to \(end)") {
                    try MovieFixture.movie(Array(bytes[..<end]))
                }
            }
        }
    }

    @Test func `whose tables of chunks are longer than their entries keep what is behind them`()
        throws
    {
        var bytes = try MovieFixture.named("edit_list_positive_shift.mp4")
        let movie = try MovieFixture.movie(bytes)
        let other = try #require(movie.tracks.first { $0.handler == "soun" })
        let table = try #require(movie.box.boxes[other.boxIndex]["mdia", "minf", "stbl", "stco"])
        // The count, four bytes behind version and flags, becomes one less.
        let start = try #require(bytes.firstRange(of: table.bytes)).lowerBound
        let count = table.bytes.number(at: 4, 4)
        for byte in 0..<4 {
            bytes[start + 4 + byte] = UInt8(truncatingIfNeeded: (count - 1) >> (24 - 8 * byte))
        }
        let read = try MovieFixture.movie(bytes)
        let made = try Transplant(read, samples: nil, entry: nil)
        let byteRanges = read.samples.byteRanges
        #expect(made.bytes(of: bytes) { Array(bytes[byteRanges[$0]]) }.count == made.length)
    }

    @Test func `have the video of the track that has samples, where another is empty`() throws {
        var bytes = try MovieFixture.named("bt601.mp4")
        let movie = try MovieFixture.movie(bytes)
        var box = movie.box
        func add(_ counts: [BoxType: Int]) {
            var track = box.boxes[movie.video.boxIndex]
            track.change("mdia", "minf", "stbl") { table in
                table.boxes.removeAll { $0.type != "stsd" }
                for (type, count) in counts {
                    table.boxes.append(MovieBox(type, [UInt8](repeating: 0, count: count)))
                }
            }
            box.boxes.append(track)
        }
        add(["stts": 8, "stsc": 8, "stsz": 12, "stco": 8])
        var writer = ByteWriter()
        box.write(to: &writer)
        // The old box stays, as free space.
        bytes.replaceSubrange(
            movie.movieRange.lowerBound + 4..<movie.movieRange.lowerBound + 8, with: "free".utf8)
        let read = try MovieFixture.movie(bytes + writer.bytes)
        #expect(read.tracks.count == movie.tracks.count + 1)
        #expect(read.video.boxIndex == movie.video.boxIndex && read.samples == movie.samples)
        let made = try Transplant(read, samples: nil, entry: nil)
        let byteRanges = read.samples.byteRanges
        #expect(made.bytes(of: bytes) { Array(bytes[byteRanges[$0]]) }.count == made.length)
    }

    @Test func `with bytes changed at random are read or refused, and what is read is edited`()
        throws
    {
        var random = SeededGenerator()
        for name in MovieFixture.names {
            let whole = try MovieFixture.named(name)
            let movie = try MovieFixture.movie(whole)
            for _ in 0..<300 {
                var bytes = whole
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    let index = Int.random(in: movie.movieRange, using: &random)
                    bytes[index] =
                        Bool.random(using: &random)
                        ? UInt8.random(in: 0...255, using: &random)
                        : [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
                }
                do {
                    let read = try MovieFixture.movie(bytes)
                    let made = try Transplant(read, samples: nil, entry: nil)
                    let byteRanges = read.samples.byteRanges
                    let result = made.bytes(of: bytes) { Array(bytes[byteRanges[$0]]) }
                    #expect(result.count == made.length, "seed \(random.seed)")
                    let again = try MovieFixture.movie(result)
                    #expect(again.samples.times == read.samples.times, "seed \(random.seed)")
                } catch is MovieProblem {
                    continue
                }
            }
        }
    }
}

@Suite("Parts of long movies") struct LongPartTests {
    @Test func `are longer, so that there are never more files than a process may have`() throws {
        // Two hours at one key frame a second.
        let count = 7_200
        let samples = SampleTable(
            sizes: [Int](repeating: 1, count: count), chunks: [],
            decodeTimes: Array(0..<count), times: Array(0..<count), lastDuration: 1,
            syncSamples: Array(0..<count))
        let plan = try MovieParts(samples, timeScale: 1)
        #expect((90...MovieParts.countMax + 1).contains(plan.parts.count))
        #expect(plan.parts.last?.frames.upperBound == count)
    }
}
