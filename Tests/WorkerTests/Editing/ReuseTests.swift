import Edits
import Editors
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Synchronization
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

@Suite("The same photo with the same edit") struct ReuseTests {
    private let bench: Workbench
    private let photo = SyntheticPhoto.png(width: 64, height: 48)
    private static let sepia = #"{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}"#

    init() throws { bench = try Workbench() }

    private func edit(
        _ name: String, _ json: String = sepia, editors: EditorRegistry? = nil
    ) async throws -> Provenance {
        let asset = try AssetPath(name)
        if !FileManager.default.fileExists(
            atPath: bench.library.originals.pushing(FilePath(name)).string)
        {
            try bench.put(name, photo)
        }
        guard case .made(let version, _) = try await bench.edit(asset, json, editors: editors)
        else {
            throw Failure(.internalError, "nothing was made of \(json)")
        }
        return version
    }

    private func verify(_ name: String) async throws -> Verification {
        let verifier = AssetVerifier(
            library: bench.library, pool: bench.pool, settings: bench.settings)
        return try await verifier.verify(
            AssetPath(name), allVersions: true, scratch: bench.scratch)
    }

    @Test func `under two names is rendered once, and each version is whole by itself`()
        async throws
    {
        let first = try await edit("a.png")
        let second = try await edit("other.png")
        #expect(first.content?.reusedFrom == nil)
        #expect(second.content?.reusedFrom == "a.png@\(first.version)")
        #expect(second.content?.rendering == first.content?.rendering)
        #expect(second.content?.render.name == "other.png")
        #expect(second.content?.render.sha256 == first.content?.render.sha256)
        #expect(second.content?.adjustment.sidecar == "other.AAE")
        for name in ["a.png", "other.png"] {
            let report = try await verify(name)
            #expect(report.isSound && report.notes.isEmpty, "\(report)")
            #expect(report.rendersCompared == 1)
        }
        await bench.pool.close()
    }

    @Test func `of another tenant is rendered for this one, and not taken over`() async throws {
        let json = #"{"filters":[{"name":"CISepiaTone"}]}"#
        for (name, tenant) in [("a.png", "shop"), ("other.png", "newsroom")] {
            try bench.put(name, photo)
            var job = bench.job()
            job.borrower = Borrower(.tenant(try JobID(tenant)))
            let outcome = try await bench.run(Edit(json: json), AssetPath(name), job)
            guard case .made(let version, _)? = outcome else {
                Issue.record("nothing was made of \(name)")
                return
            }
            #expect(version.content?.reusedFrom == nil)
        }
        await bench.pool.close()
    }

    @Test func `of another tenant is taken over where the operator says so`() async throws {
        var from: [String?] = []
        for (name, tenant) in [("a.png", "shop"), ("other.png", "newsroom")] {
            try bench.put(name, photo)
            var job = bench.job()
            job.borrower = Borrower(.tenant(try JobID(tenant)))
            let outcome = try await bench.run(
                Edit(json: Self.sepia), AssetPath(name), job, sharesAmongTenants: true)
            guard case .made(let version, _)? = outcome else {
                Issue.record("nothing was made of \(name)")
                return
            }
            from.append(version.content?.reusedFrom.map { String($0.prefix(6)) })
        }
        #expect(from == [nil, "a.png@"])
        await bench.pool.close()
    }

    @Test func `after a revert has the render of before`() async throws {
        let first = try await edit("a.png")
        _ = try await edit("a.png", #"{"mode":"revert"}"#)
        let again = try await edit("a.png")
        #expect(again.content?.reusedFrom == "a.png@\(first.version)")
        #expect(try await verify("a.png").isSound)
        // History goes on as ever.
        _ = try await edit("a.png", #"{"mode":"undo"}"#)
        #expect(try await bench.shown(AssetPath("a.png")) == photo)
        await bench.pool.close()
    }

    @Test func `that is current already stays unchanged`() async throws {
        _ = try await edit("a.png")
        guard case .unchanged = try await bench.edit(AssetPath("a.png"), Self.sepia) else {
            Issue.record("a version was made")
            return
        }
        await bench.pool.close()
    }

    @Test(arguments: [
        #"{"filters":[{"name":"CISepiaTone","inputIntensity":0.7}]}"#,
        #"{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}],"output":{"quality":0.8}}"#,
        #"{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}],"output":{"previews":[32]}}"#,
    ])
    func `but for a number is rendered`(json: String) async throws {
        _ = try await edit("a.png")
        #expect(try await edit("b.png", json).content?.reusedFrom == nil)
        try bench.put("c.png", SyntheticPhoto.png(width: 64, height: 48, seed: 2))
        #expect(try await edit("c.png").content?.reusedFrom == nil)
        await bench.pool.close()
    }

    @Test(arguments: [
        (
            #"{"filters":[{"name":"CIGaussianBlur","radius":2}],"referenceSize":[32,24]}"#,
            #"{"filters":[{"name":"CIGaussianBlur","radius":4}]}"#
        ),
        (#"{"filters":[{"name":"auto"}]}"#, #"{"filters":[{"name":"auto"}]}"#),
    ])
    func `however it is said is rendered once`(one: String, other: String) async throws {
        let first = try await edit("a.png", one)
        let second = try await edit("b.png", other)
        #expect(second.content?.reusedFrom == "a.png@\(first.version)")
        #expect(second.content?.recipe == first.content?.recipe)
        #expect(try await verify("b.png").isSound)
        await bench.pool.close()
    }

    @Test func `brings its previews along, and the placeholder comes with the end`() async throws {
        let json =
            #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[16,32]}}"#
        let first = try await edit("a.png", json)
        let asset = try bench.put("b.png", photo)
        let told = Mutex(0)
        let editor = AssetEditor(
            library: bench.library, pool: bench.pool, editors: bench.editors, limits: .init(),
            resources: nil)
        var job = bench.job()
        job.desk.placeholder = { _ in told.withLock { $0 += 1 } }
        let outcome = try await editor.make(Edit(json: json), of: asset, job)
        guard case .made(let second, _) = outcome else {
            Issue.record("nothing was made")
            return
        }
        #expect(second.content?.reusedFrom != nil)
        #expect(second.content?.previews == first.content?.previews)
        #expect(second.content?.placeholder == first.content?.placeholder)
        #expect(told.withLock { $0 } == 0)
        await bench.pool.close()
    }

    @Test func `on the same base is rendered once, and each version has the base`() async throws {
        let invert = #"{"filters":[{"name":"CIColorInvert"}]}"#
        for name in ["a.png", "b.png"] { _ = try await edit(name) }
        // An editor that reads nothing stacks.
        let first = try await edit("a.png", invert, editors: EditorRegistry([]))
        let second = try await edit("b.png", invert, editors: EditorRegistry([]))
        #expect(second.content?.reusedFrom == "a.png@\(first.version)")
        #expect(second.content?.base?.version.hasPrefix("1-") == true)
        #expect(try await verify("b.png").isSound)
        await bench.pool.close()
    }

    @Test func `at the same time is rendered once`() async throws {
        let names = (0..<6).map { "photo-\($0).png" }
        for name in names { try bench.put(name, photo) }
        let versions = try await withThrowingTaskGroup(of: Provenance.self) { group in
            for name in names { group.addTask { try await edit(name) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(versions.count == 6)
        #expect(versions.count { $0.content?.reusedFrom == nil } == 1)
        #expect(Set(versions.map(\.content?.render.sha256)).count == 1)
        for name in names { #expect(try await verify(name).isSound) }
        await bench.pool.close()
    }

    @Test
    func `is rendered when the other job takes too long or is our own, lost by a stuck worker`()
        async throws
    {
        let first = try await edit("a.png")
        let hex = try #require(first.content?.rendering?.key)
        let key = try #require(RenderKey(recorded: hex))
        let stuck = bench.job()
        let asset = try bench.put("b.png", photo)
        guard
            case .claimed(let entry) = try await bench.library.claim(
                key, of: asset, for: stuck.staged)
        else {
            Issue.record("the entry is not free")
            return
        }
        let record = #"{"formatVersion":1,"holder":"photos/\#(stuck.staged.job)","places":[]}"#
        try Data(record.utf8).write(to: URL(filePath: bench.library.path(of: key).string))
        let clock = ContinuousClock()
        for (job, wait) in [
            (bench.job(), Duration.milliseconds(20)),
            // Another hold of the same job.
            (
                AssetEditor.Job(
                    staged: StagedVersion(queue: "photos", job: stuck.staged.job, fence: "5000"),
                    author: stuck.author, borrower: stuck.borrower), .seconds(600)
            ),
        ] {
            var outcome: AssetEditor.Outcome?
            let took = try await clock.measure {
                outcome = try await bench.run(
                    Edit(json: Self.sepia), asset, job, reuseWait: wait)
            }
            guard case .made(let version, _)? = outcome else {
                Issue.record("nothing was made")
                return
            }
            #expect(version.content?.reusedFrom == nil)
            #expect(took < .seconds(300))
            _ = try await bench.edit(asset, #"{"mode":"revert"}"#)
        }
        withExtendedLifetime(entry) {}
        await bench.pool.close()
    }

    @Test func `is rendered when the version that has it is damaged, and offered anew`()
        async throws
    {
        let first = try await edit("a.png")
        let render = bench.library.folder(of: try AssetPath("a.png")).folder(of: first)
            .appending("a.png")
        var bytes = try Data(contentsOf: URL(filePath: render.string))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(filePath: render.string))
        let second = try await edit("b.png")
        #expect(second.content?.reusedFrom == nil)
        #expect(try await verify("b.png").isSound)
        #expect(try Data(contentsOf: URL(filePath: render.string)) == bytes)
        #expect(try await edit("c.png").content?.reusedFrom == "b.png@\(second.version)")
        await bench.pool.close()
    }

    @Test func `is rendered when verify has found the render to be wrong`() async throws {
        let first = try await edit("a.png")
        let asset = try AssetPath("a.png")
        let content = try #require(first.content)
        let folder = bench.library.folder(of: asset).folder(of: first)
        // Render and record agree with each other, not with the edit: memory that flipped a bit.
        let file = folder.appending(content.render.name)
        try SyntheticPhoto.png(width: 64, height: 48, seed: 9)
            .write(to: URL(filePath: file.string), options: .atomic)
        let found = try FileDigest.sha256(of: file.string)
        let wrong = Provenance(
            version: try #require(VersionName(first.version)), parent: nil, mode: .replace,
            author: first.author, timeline: first.timeline,
            content: Content(
                source: content.source, base: nil, adjustment: content.adjustment, opened: nil,
                recipe: content.recipe, editDigest: content.editDigest,
                rendering: content.rendering,
                render: Content.Image(
                    name: content.render.name,
                    MadeFile(
                        mediaType: content.render.mediaType,
                        size: content.render.size, bytes: found.bytes, sha256: found.hex))))
        try Data(wrong.encoded()).write(
            to: URL(filePath: folder.appending(Provenance.fileName).string), options: .atomic)
        #expect(try await edit("b.png").content?.reusedFrom != nil)
        #expect(try await verify("b.png").problems.map(\.subject) == [.invariant])
        let third = try await edit("c.png")
        #expect(third.content?.reusedFrom == nil)
        #expect(try await verify("c.png").isSound)
        await bench.pool.close()
    }

    @Test func `is rendered where renders are not to be used again`() async throws {
        _ = try await edit("a.png")
        let asset = try bench.put("b.png", photo)
        let outcome = try await bench.run(
            Edit(json: Self.sepia), asset, bench.job(), reuseWait: nil)
        guard case .made(let version, _)? = outcome else {
            Issue.record("nothing was made")
            return
        }
        #expect(version.content?.reusedFrom == nil)
        await bench.pool.close()
    }
}
