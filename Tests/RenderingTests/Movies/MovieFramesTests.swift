import Edits
import PhotoFiles
import Codecs
import Files
import Foundation
import RenderProtocol
import Testing

@testable import Rendering

/// Frames of whole movies that are coded without loss: what is decoded from them is what the edit made of the source's frames.
@Suite("Frames of a movie without loss") struct MovieFramesTests {
    /// A movie that is read, as a photo of a recipe.
    private struct Opened {
        let photo: Photo
        let movie: MovieFile

        init(_ file: OpenFile, _ recipe: Recipe) throws {
            // Starts libvips.
            _ = try Renderer()
            let opened = try OpenedPhoto(
                PhotoFile(file), recipe: recipe, limits: RenderLimits(), resources: .none)
            photo = try Photo(opened)
            movie = try #require(opened.movie)
        }

        /// The frames in the order in which they are shown, part after part.
        func frames(_ body: (DecodedFrame, Int) throws -> Void) throws {
            for number in movie.parts.indices {
                try FrameReader(movie, part: number).read { frame, rank throws(Failure) in
                    do {
                        try body(frame, rank)
                    } catch {
                        throw Failure(.internalError, "\(error)")
                    }
                    return true
                }
            }
        }

        /// The same movie with its edit, coded without loss.
        func rendered() throws -> OpenFile {
            var files = RenderFiles(sources: [movie.file.file])
            for number in movie.parts.indices {
                let part = try OpenFile.inMemory(name: "part \(number)")
                try MoviePartWriter(photo, movie, quality: .lossless)
                    .write(number, to: part) { _ throws(Failure) in }
                files.segments.append(part)
            }
            let result = try OpenFile.inMemory(name: "the movie")
            try MovieWriter(photo, movie).write(
                PhotoRequest.Output(), to: result, files
            ) { _ throws(Failure) in }
            return result
        }
    }

    /// The rows of planes, one behind the other.
    private static func bytes(_ planes: [SourcePlane], _ layout: FrameLayout) -> [[UInt8]] {
        planes.enumerated().map { index, plane in
            let (width, height) = FrameSamples.size(index, layout)
            return (0..<height).reduce(into: []) { bytes, row in
                bytes += UnsafeRawBufferPointer(
                    start: plane.row(row), count: width * layout.sampleBytes)
            }
        }
    }

    private static func bytes(_ frame: DecodedFrame) -> [[UInt8]] {
        bytes(frame.planes.map(SourcePlane.init), frame.layout)
    }

    private static func filter(
        _ name: String, _ parameters: [String: FilterValue] = [:]
    ) -> Filter {
        do { return try Filter(name, parameters) } catch { preconditionFailure("\(error)") }
    }

    /// Edits of each lane: colours, a part, positions in a frame, neighbours.
    private static let edits: [(lane: RenderPlan.Lane, filters: [Filter])] = [
        (.planes, [filter("CISepiaTone")]),
        (.planes, [filter("CICrop", ["rectangle": [18, 10, 120, 90]]), filter("CIColorInvert")]),
        (
            .planes,
            [
                filter("CIExposureAdjust", ["inputEV": -0.5]),
                filter("CIVignetteEffect", ["center": [90, 60], "radius": 70, "intensity": 0.8]),
            ]
        ),
        (.stream, [filter("turn", ["degrees": 90]), filter("CISepiaTone")]),
        (
            .stream,
            [
                filter("CICrop", ["rectangle": [0, 0, 160, 120]]),
                filter("CIGaussianBlur", ["radius": 3]),
            ]
        ),
    ]

    private static let small = RenderedMovie.fixture("bt601.mp4")

    /// Movies with the lane of an edit: all edits of a small one, a part of two parts; of the corpus one turned by its matrix, and HDR of 10 bits in
    /// open groups.
    private static let cases: [(path: String, edit: Int)] =
        edits.indices.map { (small, $0) }
        + [(RenderedMovie.fixture("edit_list_positive_shift.mp4"), 1)]
        + (Studio.corpus.map { corpus in
            [
                ("\(corpus)/video/sample_portrait.mp4", 0),
                ("\(corpus)/video/sample_with_color_info.mp4", 4),
                ("\(corpus)/video/hlg10-color-test.mp4", 4),
            ]
        } ?? [])

    @Test(arguments: cases)
    func `are the source's frames after the edit, byte for byte`(
        path: String, edit: Int
    ) throws {
        let (lane, filters) = Self.edits[edit]
        let source = try Opened(OpenFile(reading: path), Recipe(filters: filters))
        // Colours of more than 8 bits are edited in rows of light.
        #expect(source.photo.plan.lane == (source.movie.isDeep ? .stream : lane))
        let made = try Opened(source.rendered(), Recipe(filters: []))
        #expect(made.movie.parts.count == source.movie.parts.count)
        var found: [Int: [[UInt8]]] = [:]
        try made.frames { frame, rank in found[rank] = Self.bytes(frame) }
        #expect(found.count == source.movie.ranks.count)
        var editor: FrameEditor?
        var changed = 0
        try source.frames { frame, rank in
            let own = try editor ?? source.movie.editor(source.photo, of: frame.layout)
            editor = own
            let expected = FrameSamples(own.result)
            try own.edit(frame.planes.map(SourcePlane.init), into: expected.target)
            let bytes = Self.bytes(expected.source, expected.layout)
            let isSame = found[rank] == bytes
            #expect(isSame, "frame \(rank)")
            if bytes != Self.bytes(frame) { changed += 1 }
        }
        #expect(changed == source.movie.ranks.count)
    }

    /// Frames that are edited by rows of light, because a filter needs neighbours, have the colours that planes have. Both round; of 388,800 samples of
    /// this movie one differed by 2.
    @Test func `are within a code where they go by rows of light`() throws {
        let filters = [Self.filter("CISepiaTone", ["intensity": 0.8])]
        let source = try Opened(OpenFile(reading: Self.small), Recipe(filters: filters))
        let (steps, _) = try Planner.steps(
            of: Recipe(filters: filters), on: source.photo.header.uprightSize, limits: .init(),
            .none)
        var counts: [Int: Int] = [:]
        try source.frames { frame, rank in
            guard rank.isMultiple(of: 10) else { return }
            let editor = try source.movie.editor(source.photo, of: frame.layout)
            #expect(editor.lane == .planes)
            let (planes, rows) = (FrameSamples(editor.result), FrameSamples(editor.result))
            try editor.edit(frame.planes.map(SourcePlane.init), into: planes.target)
            FrameRunner(
                Planner.passes(of: steps, keepsAlpha: false), frame.layout,
                try source.movie.colour(of: frame.layout), result: editor.result
            ).edit(frame.planes.map(SourcePlane.init), into: rows.target)
            for (a, b) in zip(planes.samples, rows.samples) {
                for (x, y) in zip(a, b) { counts[abs(x - y), default: 0] += 1 }
            }
        }
        let more = counts.filter { $0.key > 1 }.values.reduce(0, +)
        #expect(counts.keys.max() ?? 0 <= 2)
        #expect(more * 100_000 <= counts.values.reduce(0, +))
    }
}
