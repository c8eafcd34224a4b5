import Edits
import PhotoFiles
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing
import Codecs

@testable import Rendering

/// A movie, rendered as a worker has it rendered: its parts first, in any order, then all of it.
struct RenderedMovie {
    let inspection: Inspection
    let source: [UInt8]
    let bytes: [UInt8]
    let movie: Movie
    let original: Movie

    /// - Parameter order: of the parts; nil: the first one first.
    init(
        _ path: String, _ filters: [Filter], _ output: Recipe.Output = Recipe.Output(),
        order: ([Int]) -> [Int] = { $0 }, contentIdentifier: String? = nil
    ) throws {
        let renderer = try Renderer()
        let recipe = try Recipe(filters: filters, output: output)
        let limits = RenderLimits()
        let file = try OpenFile(reading: path)
        var files = RenderFiles(sources: [file])
        inspection = try renderer.inspect(PhotoRequest(recipe: recipe, limits: limits), files)
        let plan = try #require(inspection.plan.movie)
        var parts: [Int: OpenFile] = [:]
        if plan.codec != nil {
            for part in order(Array(0..<plan.segments)) {
                let output = try OpenFile.inMemory(name: "part \(part)")
                files.outputs = [output]
                try renderer.render(
                    PhotoRequest(
                        recipe: inspection.recipe, limits: limits,
                        outputs: [.init(segment: part)]), files)
                parts[part] = output
            }
        }
        files.segments = parts.sorted { $0.key < $1.key }.map(\.value)
        let result = try OpenFile.inMemory(name: "the movie")
        files.outputs = [result]
        try renderer.render(
            PhotoRequest(
                recipe: inspection.recipe, limits: limits, contentIdentifier: contentIdentifier),
            files)
        bytes = result.bytes(from: 0, count: try result.length())
        source = file.bytes(from: 0, count: try file.length())
        movie = try Self.movie(bytes)
        original = try Self.movie(source)
    }

    private static func movie(_ bytes: [UInt8]) throws -> Movie {
        var window = FileWindow(length: bytes.count) { offset, count in
            Array(bytes.dropFirst(offset).prefix(count))
        }
        return try Movie(&window)
    }

    static func fixture(_ name: String) -> String {
        Repository.fixture("Movies/" + name).path
    }

    /// The bytes of the video's samples, one behind the other.
    static func samples(_ movie: Movie, _ bytes: [UInt8]) -> [UInt8] {
        movie.samples.byteRanges.flatMap { bytes[$0] }
    }
}

@Suite("Movies") struct MovieRenderTests {
    private func corner() throws -> [Filter] {
        [
            try Filter("CICrop", ["inputRectangle": [0, 0, 64, 48]]),
            try Filter("CIColorInvert"),
        ]
    }

    @Test(arguments: ["bt601.mp4", "h265_bframes.mp4"])
    func `keep their frames' times and all of their other tracks`(name: String) throws {
        let result = try RenderedMovie(
            RenderedMovie.fixture(name), [try Filter("CISepiaTone")])
        #expect(result.inspection.plan.lane == .planes)
        let (old, new) = (result.original, result.movie)
        #expect(new.samples.times.sorted() == old.samples.times.sorted())
        #expect(new.samples.decodeTimes == old.samples.decodeTimes)
        #expect(new.tracks.map(\.handler) == old.tracks.map(\.handler))
        #expect(new.video.frameSize == old.video.frameSize)
    }

    @Test func `are the same bytes in whichever order their parts are rendered`() throws {
        let path = RenderedMovie.fixture("edit_list_positive_shift.mp4")
        let forwards = try RenderedMovie(path, try corner())
        #expect(forwards.inspection.plan.movie?.segments == 2)
        let backwards = try RenderedMovie(path, try corner(), order: { $0.reversed() })
        let isSame = forwards.bytes == backwards.bytes
        #expect(isSame)
        #expect(forwards.movie.video.frameSize == (64, 48))
        #expect(forwards.movie.video.width == 64 && forwards.movie.video.height == 48)
    }

    @Test func `that begin with pictures of what was cut off show the first one in their stead`()
        throws
    {
        let folder = try TemporaryFolder()
        let (whole, path) = (folder.file("whole.mp4"), folder.file("cut.mp4"))
        // Open groups of twelve frames, cut where the second begins: three frames that are shown before it refer to the first.
        try TestMovie.make(
            whole, of: "208x120:rate=25",
            "-frames:v 40 -c:v libx265 -preset superfast -x265-params "
                + "log-level=none:open-gop=1:keyint=12:min-keyint=12:scenecut=0:bframes=3:b-adapt=0:pools=none"
        )
        _ = try Tool.run(
            "ffmpeg",
            ["-nostdin", "-v", "error", "-ss", "0.5", "-i", whole, "-c", "copy", path])
        let result = try RenderedMovie(path, [try Filter("CISepiaTone")])
        let (old, new) = (result.original, result.movie)
        #expect(old.samples.ranks.first == 3)
        #expect(new.samples.times.sorted() == old.samples.times.sorted())
        let made = folder.file("made.mp4")
        try Data(result.bytes).write(to: URL(filePath: made))
        let frames = try Tool.run(
            "ffprobe",
            [
                "-v", "error", "-ignore_editlist", "1", "-count_frames", "-show_entries",
                "stream=nb_read_frames", "-of", "csv=p=0", made,
            ])
        #expect(
            Int(String(decoding: frames, as: UTF8.self).filter(\.isNumber))
                == old.samples.sizes.count)
    }

    @Test(arguments: [PixelSize(width: 64, height: 12), PixelSize(width: 48, height: 64)])
    func `are refused as HEVC where less than a block of it is left`(_ left: PixelSize) throws {
        let file = try OpenFile(reading: RenderedMovie.fixture("h265_bframes.mp4"))
        let crop = try Filter(
            "CICrop",
            ["inputRectangle": [0, 0, Double(left.width), Double(left.height)]])
        let failure = #expect(throws: Failure.self) {
            try Renderer().inspect(
                PhotoRequest(recipe: Recipe(filters: [crop]), limits: RenderLimits()),
                RenderFiles(sources: [file]))
        }
        #expect(failure?.code == .invalidValue)
        #expect(failure?.message.contains("\(left) pixels") == true)
    }

    @Test(arguments: [90, 180, 270])
    func `are turned by their matrix, and no sample is touched`(degrees: Int) throws {
        let path = RenderedMovie.fixture("bt601.mp4")
        let result = try RenderedMovie(
            path, [try Filter("turn", ["degrees": .number(Double(degrees))])])
        #expect(result.inspection.plan.lane == .lossless)
        let isSame =
            RenderedMovie.samples(result.movie, result.bytes)
            == RenderedMovie.samples(result.original, result.source)
        #expect(isSame)
        #expect(result.movie.video.matrix?.orientation == [90: 6, 180: 3, 270: 8][degrees])
        let back = try RenderedMovie(
            path, [try Filter("turn", ["degrees": .number(Double(degrees))])])
        #expect(back.bytes.count == result.bytes.count)
    }

    @Test func `that are not changed are copied`() throws {
        let result = try RenderedMovie(RenderedMovie.fixture("bt601.mp4"), [])
        #expect(result.inspection.plan.lane == .copy)
        let isSame = result.bytes == result.source
        #expect(isSame)
    }

    @Test func `that are muted have neither a track nor a byte of sound`() throws {
        var output = Recipe.Output()
        output.movie.mute = true
        let result = try RenderedMovie(RenderedMovie.fixture("bt601.mp4"), [], output)
        #expect(result.original.tracks.contains { $0.handler == "soun" })
        #expect(!result.movie.tracks.contains { $0.handler == "soun" })
        let video = result.movie.samples.sizes.reduce(0, +)
        let media = result.movie.others.filter { $0.type == "mdat" }
            .reduce(0) { $0 + $1.content.count }
        #expect(media == video)
    }

    @Test func `get another content identifier where they have one, and no other byte changes`()
        throws
    {
        let folder = try TemporaryFolder()
        let path = folder.file("IMG_1.MOV")
        let marked = SyntheticLivePhoto.movie(
            of: try Data(contentsOf: URL(filePath: RenderedMovie.fixture("bt601.mp4"))))
        try marked.write(to: URL(filePath: path))
        let new = "11111111-2222-8333-8444-555555555555"
        let result = try RenderedMovie(path, [], contentIdentifier: new)
        #expect(result.inspection.header.contentIdentifier == SyntheticLivePhoto.identifier)
        let isSame =
            RenderedMovie.samples(result.movie, result.bytes)
            == RenderedMovie.samples(result.original, result.source)
        #expect(isSame)
        let text = String(decoding: result.bytes, as: Unicode.ASCII.self)
        #expect(text.contains(new) && !text.contains(SyntheticLivePhoto.identifier))
    }

    @Test func `are refused before a frame is decoded where a limit is exceeded`() throws {
        let file = try OpenFile(reading: RenderedMovie.fixture("bt601.mp4"))
        for (limit, value) in [
            (RenderLimit.movieFrames, 29), (.movieSeconds, 0), (.tracks, 1), (.boxes, 5),
        ] {
            var limits = RenderLimits()
            limits[keyPath: limit.field] = value
            let failure = #expect(throws: Failure.self) {
                try Renderer().inspect(
                    PhotoRequest(recipe: Recipe(filters: []), limits: limits),
                    RenderFiles(sources: [file]))
            }
            #expect(failure?.code == .exceedsLimit, "\(limit)")
            #expect(failure?.message.contains(limit.key) == true)
            #expect(failure?.message.contains(limit.flag) == true)
        }
    }

    @Test(arguments: [Recipe.Format.png, .mov])
    func `do not become photos or other movies, nor photos movies`(format: Recipe.Format) throws {
        let movie = try OpenFile(reading: RenderedMovie.fixture("bt601.mp4"))
        let plan = try Renderer().inspect(
            PhotoRequest(
                recipe: Recipe(filters: [], output: .init(format: format)), limits: RenderLimits()),
            RenderFiles(sources: [movie])
        ).plan
        #expect(plan.output.format == .mp4)
        #expect(plan.notes.contains { $0.contains("keeps its own") })
        let studio = try Studio()
        let failure = #expect(throws: Failure.self) {
            try studio.render(Studio.fixture("arrow.heic"), [], format: .mp4)
        }
        #expect(failure?.code == .invalidValue)
    }

    /// The pieces that a worker hands over are checked as strangers' files are.
    @Test func `are not joined of parts that are none, or another movie's`() throws {
        let path = RenderedMovie.fixture("h265_bframes.mp4")
        let renderer = try Renderer()
        let recipe = try Recipe(filters: [try Filter("CISepiaTone")])
        for bytes in [[], [UInt8](repeating: 0xFF, count: 400), Array("MLSEGM01".utf8)] {
            let part = try OpenFile.inMemory(name: "a part")
            try part.write(bytes, at: 0)
            let files = RenderFiles(
                sources: [try OpenFile(reading: path)], segments: [part],
                outputs: [try .inMemory(name: "the movie")])
            let failure = #expect(throws: Failure.self) {
                try renderer.render(
                    PhotoRequest(recipe: recipe, limits: RenderLimits()), files)
            }
            #expect(failure?.code == .internalError)
        }
    }

    @Test func `show the frame that is asked for in pictures of them`() throws {
        let file = try MovieFile(
            PhotoFile(OpenFile(reading: RenderedMovie.fixture("bt601.mp4"))),
            limits: RenderLimits())
        let movie = try #require(file)
        #expect(movie.frame(at: 0).rank == 0)
        #expect(movie.frame(at: 0.5).rank == 14)
        #expect(movie.frame(at: 1e9).rank == 29)
        let poster = try movie.poster(at: 0.5)
        #expect(poster.width == 360 && poster.height == 240)
    }
}

/// Strangers' movies: bytes changed at random, seeded.
@Suite("Movies with bytes changed at random") struct MutatedMovieTests {
    private static let count = Volume.trials(byDay: 30, byNight: 2_000)

    @Test(arguments: ["bt601.mp4", "h265_bframes.mp4"])
    func `are rendered or refused by a typed failure`(name: String) throws {
        let whole = [UInt8](try Data(contentsOf: URL(filePath: RenderedMovie.fixture(name))))
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 18)
        var (rendered, codes) = (0, Set<FailureCode>())
        for number in 0..<Self.count {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            // Tables are what is most interesting, and frames what there is most of.
            if number.isMultiple(of: 3) {
                bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
            }
            let path = folder.file("mutant")
            try Data(bytes).write(to: URL(filePath: path))
            do {
                _ = try RenderedMovie(
                    path,
                    [
                        try Filter("CICrop", ["inputRectangle": [0, 0, 64, 32]]),
                        try Filter("CIColorInvert"),
                    ])
                rendered += 1
            } catch let failure as Failure {
                codes.insert(failure.code)
            }
        }
        #expect(rendered > 0)
        let expected: Set<FailureCode> = [
            .damagedVideo, .unsupportedFormat, .exceedsLimit, .unsupportedMediaType, .emptyFile,
            .invalidValue, .tooManyPixels, .damagedPhoto,
        ]
        #expect(codes.isSubset(of: expected), "\(codes.subtracting(expected))")
    }
}
