import Edits
import Files
import Foundation
import MinilabTesting
import Synchronization
import SystemPackage
import Telemetry
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

/// A small movie of the repository.
private func fixture(_ name: String) throws -> Data {
    return try Data(contentsOf: Repository.fixture("Movies/" + name))
}

@Suite("A movie") struct MovieEditTests {
    private static let sepia = #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[64]}}"#

    @Test func `is edited as a photo is, with previews of its first frame`() async throws {
        let bench = try Workbench()
        let asset = try bench.put("clip.mp4", try fixture("h265_bframes.mp4"))
        _ = try await bench.edit(asset, Self.sepia)
        let content = try #require(try await bench.current(asset)?.content)
        #expect(content.source.format == "movie")
        #expect(content.render.name == "clip.mp4" && content.render.mediaType == "video/mp4")
        #expect(content.render.size == PixelSize(width: 854, height: 480))
        #expect(content.previews.map(\.image.mediaType) == ["image/jpeg"])
        #expect(content.placeholder != nil && content.pairedVideo == nil)
        guard case .unchanged = try await bench.edit(asset, Self.sepia) else {
            Issue.record("the same edit was done twice")
            return
        }
        for mode in ["undo", "redo", "revert"] {
            guard case .made = try await bench.edit(asset, #"{"mode":"\#(mode)"}"#) else {
                Issue.record("\(mode) found nothing to do")
                return
            }
        }
        await bench.pool.close()
    }

    @Test func `that is turned touches no sample, and the original stays`() async throws {
        let bench = try Workbench()
        let movie = try fixture("bt601.mp4")
        let asset = try bench.put("clip.mp4", movie)
        _ = try await bench.edit(asset, #"{"filters":[{"name":"turn","degrees":90}]}"#)
        let content = try #require(try await bench.current(asset)?.content)
        #expect(content.render.size == PixelSize(width: 240, height: 360))
        #expect(content.rendering?.plan.contains { $0.contains("no sample is touched") } == true)
        let original = bench.library.originals.pushing(FilePath("clip.mp4"))
        #expect(try Data(contentsOf: URL(filePath: original.string)) == movie)
        await bench.pool.close()
    }

    @Test func `that is cut off is damaged, and nothing is published`() async throws {
        let bench = try Workbench()
        let asset = try bench.put("clip.mp4", try fixture("bt601.mp4").prefix(20_000))
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(asset, Self.sepia)
        }
        #expect(failure?.code == .damagedVideo)
        #expect(try await bench.current(asset) == nil)
        await bench.pool.close()
    }

    /// Two parts of 1080p, of which a corner stays.
    private static let corner = """
        {"filters":[{"name":"CICrop","inputRectangle":[0,0,64,64]},{"name":"CIColorInvert"}]}
        """

    @Test func `of several parts is gone on with after a crash, and its parts do not stay`()
        async throws
    {
        let movie = try fixture("edit_list_positive_shift.mp4")
        let whole = try Workbench()
        let recorder = FaultInjection(afterCalls: .max)
        let asset = try whole.put("clip.mp4", movie)
        _ = try await whole.run(Edit(json: Self.corner), asset, whole.job(), faults: recorder)
        let moves = recorder.calls.indices.filter {
            recorder.calls[$0].name == "move"
                && recorder.calls[$0].path.string.contains("/segments/")
        }
        #expect(moves.count == 2)
        #expect(try whole.parts().isEmpty)

        let broken = try Workbench()
        _ = try broken.put("clip.mp4", movie)
        // The process dies as it keeps the second part.
        let faults = FaultInjection(afterCalls: try #require(moves.last))
        await #expect(throws: (any Error).self) {
            _ = try await broken.run(Edit(json: Self.corner), asset, broken.job(), faults: faults)
        }
        #expect(try broken.parts().filter { !$0.hasPrefix(".") }.count == 1)
        _ = try await broken.edit(asset, Self.corner)
        #expect(try broken.parts().isEmpty)
        let isSame = try await broken.shown(asset) == whole.shown(asset)
        #expect(isSame)
        await whole.pool.close()
        await broken.pool.close()
    }

    /// Another worker on the same library, which renders parts.
    private func helped(
        _ bench: Workbench, _ taken: @escaping @Sendable (Int) -> Void,
        _ help: @escaping @Sendable (PartTask, Int) async throws -> Void
    ) -> JobDesk {
        var parts = JobDesk()
        parts.split = { text, numbers in
            do {
                for number in numbers { try await help(PartTask(text), number) }
            } catch {
                Issue.record(error)
            }
            return true
        }
        parts.claimPart = { number in
            taken(number)
            return JobDesk.Part(isOurs: true, ended: [1])
        }
        return parts
    }

    @Test func `has parts that other workers render, to the same bytes, and never to others`()
        async throws
    {
        let movie = try fixture("edit_list_positive_shift.mp4")
        let alone = try Workbench()
        let asset = try alone.put("clip.mp4", movie)
        _ = try await alone.edit(asset, Self.corner)

        let bench = try Workbench()
        try bench.put("clip.mp4", movie)
        let taken = Mutex<[Int]>([])
        let rendered = Mutex(0)
        let helper = try Workbench(
            metrics: RenderMetrics(
                Metrics { metric, _, _ in
                    if metric == "minilab_render_seconds" { rendered.withLock { $0 += 1 } }
                }))
        let editor = AssetEditor(
            library: bench.library, pool: helper.pool, editors: bench.editors,
            limits: bench.settings.limits, resources: nil)
        let progress = Mutex<[Int]>([])
        var job = bench.job()
        job.progress = { told in progress.withLock { $0.append(told.framesDone) } }
        job.desk = helped(bench, { number in taken.withLock { $0.append(number) } }) {
            task, number in
            try await editor.makePart(number, of: task, bench.job())
            #expect(try bench.parts().count { !$0.hasPrefix(".") } == 1)
            // There is no such part, the task is of another movie, and it is none.
            for (task, number, code) in [
                (task, 2, FailureCode.invalidValue),
                (
                    PartTask(
                        asset: asset, recipe: task.recipe,
                        key: RenderKey(
                            photo: "another", recipe: task.recipe, render: 1, owner: .operator)),
                    0,
                    .ioFailure
                ),
            ] {
                let failure = await #expect(throws: Failure.self) {
                    try await editor.makePart(number, of: task, bench.job())
                }
                #expect(failure?.code == code)
            }
            #expect(throws: Failure.self) { try PartTask("{}") }
            #expect(try bench.parts().count { !$0.hasPrefix(".") } == 1)
        }
        _ = try await bench.run(Edit(json: Self.corner), asset, job)
        let isSame = try await bench.shown(asset) == alone.shown(asset)
        #expect(isSame)
        #expect(taken.withLock(\.self) == [0, 1])
        #expect(rendered.withLock(\.self) == 1)
        #expect(progress.withLock { $0.max() ?? 0 } > 0)
        #expect(try bench.parts().isEmpty)
        for bench in [alone, bench, helper] { await bench.pool.close() }
    }

    @Test func `whose job never ends leaves no parts that stay for ever`()
        async throws
    {
        let bench = try Workbench()
        let key = RenderKey(
            photo: "a", recipe: try Recipe(filters: []), render: 1, owner: .operator)
        let part = try OpenFile.inMemory(name: "a part")
        try part.write([1, 2, 3], at: 0)
        let store = bench.library
        try await store.keepMoviePart(part, as: MoviePartName(key, 3))
        let found = try OpenFile.inMemory(name: "a place")
        #expect(try await store.readMoviePart(MoviePartName(key, 3), into: found))
        #expect(found.bytes(from: 0, count: 9) == [1, 2, 3])
        #expect(try await !store.readMoviePart(MoviePartName(key, 2), into: found))
        try await bench.library.removeOldMovieParts()
        #expect(try bench.parts().count == 1)
        try await bench.library.removeMovieParts(writtenBefore: .now.addingTimeInterval(60))
        #expect(try bench.parts().isEmpty)
        await bench.pool.close()
    }
}

extension Workbench {
    /// Names of parts of movies that are kept.
    fileprivate func parts() throws -> [String] {
        let root = library.root.appending("segments").string
        guard let all = FileManager.default.enumerator(atPath: root) else { return [] }
        return all.compactMap { $0 as? String }.filter { $0.split(separator: "/").count == 3 }
            .compactMap { $0.split(separator: "/").last.map(String.init) }
    }
}

@Suite("A Live Photo") struct LivePhotoTests {
    private static let sepia = #"{"filters":[{"name":"CISepiaTone"}]}"#

    /// A library with both halves of a Live Photo.
    private func bench(movie identifier: String = SyntheticLivePhoto.identifier) throws -> (
        Workbench, AssetPath
    ) {
        let bench = try Workbench()
        let photo = try Data(contentsOf: Contract.folder.appending(path: "photos/tulips.jpg"))
        let asset = try bench.put("IMG_1.JPG", SyntheticLivePhoto.still(of: photo))
        try bench.put(
            "IMG_1.MOV",
            SyntheticLivePhoto.movie(of: try fixture("bt601.mp4"), identifier: identifier))
        return (bench, asset)
    }

    @Test func `is one asset: an edit makes both halves, with one new mark`() async throws {
        let (bench, asset) = try bench()
        _ = try await bench.edit(asset, Self.sepia)
        let version = try #require(try await bench.current(asset))
        let content = try #require(version.content)
        #expect(content.render.name == "IMG_1.jpg")
        #expect(content.pairedVideo?.mediaType == "video/mp4")
        let folder = URL(filePath: bench.library.folder(of: asset).folder(of: version).string)
        let marks = try [content.render, content.pairedVideo].compactMap(\.self).map {
            try Mark.found(in: Data(contentsOf: folder.appending(path: $0.name)))
        }
        #expect(marks.count == 2 && Set(marks).count == 1)
        #expect(marks.first??.isEmpty == false && marks.first != SyntheticLivePhoto.identifier)
        await bench.pool.close()
    }

    @Test func `edited alike twice is rendered once, with both halves`() async throws {
        let (bench, asset) = try bench()
        _ = try await bench.edit(asset, Self.sepia)
        let first = try #require(try await bench.current(asset)?.content)
        for name in ["IMG_1.JPG", "IMG_1.MOV"] {
            let data = try Data(
                contentsOf: URL(
                    filePath: bench.library.originals.pushing(FilePath(name)).string))
            try bench.put(name.replacing("IMG_1", with: "IMG_2"), data)
        }
        let other = try AssetPath("IMG_2.JPG")
        _ = try await bench.edit(other, Self.sepia)
        let second = try #require(try await bench.current(other)?.content)
        #expect(second.reusedFrom != nil)
        #expect(second.pairedVideo?.name == "IMG_2.mp4")
        #expect(second.pairedVideo?.sha256 == first.pairedVideo?.sha256)
        await bench.pool.close()
    }

    @Test func `whose movie is another one's is a photo`() async throws {
        let (bench, asset) = try bench(movie: "602FEBB7-6B59-4799-96E6-9C8484D873C8")
        _ = try await bench.edit(asset, Self.sepia)
        #expect(try await bench.current(asset)?.content?.pairedVideo == nil)
        await bench.pool.close()
    }

    @Test func `whose movie cannot be read is not edited alone`() async throws {
        let (bench, asset) = try bench()
        try bench.put("IMG_1.MOV", SyntheticLivePhoto.movie())
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(asset, Self.sepia)
        }
        #expect(failure?.code == .unsupportedFormat)
        #expect(try await bench.current(asset) == nil)
        await bench.pool.close()
    }

    @Test func `rendered by another editor is adopted with its movie, byte for byte`()
        async throws
    {
        let (bench, asset) = try bench()
        let mark = "602FEBB7-6B59-4799-96E6-9C8484D873C9"
        let photo = try Data(contentsOf: Contract.folder.appending(path: "photos/tulips.jpg"))
        let movie = SyntheticLivePhoto.movie(
            of: try fixture("h265_bframes.mp4"), identifier: mark)
        try bench.put("IMG_E1.JPG", SyntheticLivePhoto.still(of: photo, identifier: mark))
        try bench.put("IMG_E1.MOV", movie)
        let json = """
            {"mode":"import","render":"IMG_E1.JPG","adjustmentData":\
            {"formatIdentifier":"com.example.editor","formatVersion":"1.0","data":"AAAA"}}
            """
        _ = try await bench.edit(asset, json)
        let version = try #require(try await bench.current(asset))
        let video = try #require(version.content?.pairedVideo)
        let found = try Data(
            contentsOf: URL(filePath: bench.library.folder(of: asset).folder(of: version).string)
                .appending(path: video.name))
        let isSame = found == movie
        #expect(isSame)
        // Another editor's edit cannot be read: the next one is made on its render, movie and all.
        _ = try await bench.edit(asset, #"{"mode":"append","filters":[{"name":"CIColorInvert"}]}"#)
        let base = try #require(try await bench.current(asset)?.content?.base)
        #expect(base.pairedVideo?.sha256 == video.sha256)
        try bench.put("IMG_E1.MOV", SyntheticLivePhoto.movie(identifier: "another"))
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(asset, json.replacing("AAAA", with: "AAAB"))
        }
        #expect(failure?.code == .pairMismatch)
        await bench.pool.close()
    }
}

/// The mark of a half.
private enum Mark {
    /// The first text of a file that has the form of a UUID.
    static func found(in data: Data) -> String? {
        let text = String(decoding: data, as: Unicode.ASCII.self)
        let form = /[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}/
        return text.firstMatch(of: form).map { String($0.output) }
    }
}
