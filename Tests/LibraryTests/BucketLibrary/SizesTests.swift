import BlobStore
import Editors
import Edits
import Files
import Foundation
import MinilabTesting
import SystemPackage
import Testing

@testable import BucketLibrary
@testable import Library

/// A library of either kind, and what the tests of renditions do to it.
struct SizesFixture {
    enum Kind: CaseIterable { case folder, bucket }

    let kind: Kind
    private let folder: LibraryFixture
    private let bucket: BucketFixture

    init(_ kind: Kind) throws {
        self.kind = kind
        (folder, bucket) = (try LibraryFixture(), try BucketFixture())
    }

    var asset: AssetPath { folder.asset }
    var library: any LibraryStore { kind == .folder ? folder.library : bucket.library }
    var root: FilePath { folder.library.root }
    var memory: MemoryBlobStore { bucket.memory }

    /// Runs a body with the library as a machine opens it that has nothing else.
    func withAnotherMachine(
        _ body: (any LibraryStore) async throws -> Void
    ) async throws {
        switch kind {
        case .folder: try await body(LibraryFolder(root: root))
        case .bucket:
            // Its scratch folder lives as long as it does.
            let other = try bucket.anotherMachine()
            try await body(other.library)
            withExtendedLifetime(other) {}
        }
    }

    /// Runs a body with the library of a process that dies after a number of calls.
    ///
    /// - Returns: whether it has died.
    func dying(
        after calls: Int, _ body: (any LibraryStore) async throws -> Void
    ) async throws -> Bool {
        switch kind {
        case .folder:
            let faults = FaultInjection(afterCalls: calls)
            do { try await body(LibraryFolder(root: root, faults: faults)) } catch {}
            return faults.hasStruck
        case .bucket:
            let store = CrashingStore(memory, seed: UInt64(calls), callsLeft: calls + 1)
            let other = try BucketFixture(store: store, asset: asset.string, clock: memory)
            do { try await body(other.library) } catch {}
            return store.isDead
        }
    }

    /// Stages renditions with these bytes.
    func stage(
        _ texts: [String: String], in staged: StagedVersion, _ library: any LibraryStore,
        arrival: Int? = nil, format: Recipe.Format = .avif, at time: String = "2026-05-20T00:00:00Z"
    ) throws -> [String: StoredRendition] {
        let folder = try library.staging.begin(staged)
        var made: [String: StoredRendition] = [:]
        for (name, text) in texts {
            let rendition = StoredRendition.test(
                name, text, arrival: arrival, format: format, at: time)
            try rendition.write(text, to: folder, library.staging.files)
            made[name] = rendition
        }
        return made
    }

    func staged(_ name: VersionName) -> StagedVersion {
        StagedVersion(queue: "photos", job: "job-\(name)", fence: name.fence)
    }

    /// Seals a version that shows the original, with renditions.
    @discardableResult
    func seal(
        _ name: VersionName, on parent: VersionName?, _ texts: [String: String] = [:],
        showing: VersionName? = nil, isDraft: Bool = false, publishing draft: VersionName? = nil,
        in library: (any LibraryStore)? = nil, at time: String = "2026-05-20T00:00:00Z"
    ) async throws -> StagedVersion {
        let library = library ?? self.library
        let staged = staged(name)
        var sizes = SizeList(try stage(texts, in: staged, library, at: time))
        if let shown = showing ?? draft {
            sizes = try await library.link(sizesOf: shown, asset, into: staged)
        }
        let state = try await library.state(of: asset)
        let provenance = Provenance(
            version: name, parent: parent, isDraft: isDraft,
            mode: draft == nil ? .revert : .publish, draft: draft,
            author: Provenance.Author(
                queue: "photos", job: staged.job, generation: 1, attempt: 1, worker: "w", at: time),
            edit: "00", history: try await library.publishedJobs(of: asset, state),
            timeline: (state.current?.timeline ?? .start).edited(by: name), content: nil)
        try await library.seal(staged, provenance, sizes, of: asset)
        return staged
    }

    @discardableResult
    func publish(
        _ name: VersionName, on parent: VersionName?, _ texts: [String: String] = [:],
        showing: VersionName? = nil, isDraft: Bool = false, publishing draft: VersionName? = nil,
        at time: String = "2026-05-20T00:00:00Z"
    ) async throws -> Publication {
        let staged = try await seal(
            name, on: parent, texts, showing: showing, isDraft: isDraft, publishing: draft, at: time
        )
        return try await library.publish(name, of: asset, from: staged)
    }

    /// Adds renditions to a version, by a job of its own.
    @discardableResult
    func add(
        _ texts: [String: String], to version: VersionName, fence: Int = 900, arrival: Int? = nil,
        format: Recipe.Format = .avif, in library: (any LibraryStore)? = nil,
        at time: String = "2026-05-20T00:00:00Z"
    ) async throws -> SizeList {
        let library = library ?? self.library
        let staged = StagedVersion(queue: "photos", job: "sizes-\(fence)", fence: "\(fence)")
        let made = try stage(
            texts, in: staged, library, arrival: arrival, format: format, at: time)
        let list = try await library.add(made, to: version, of: asset, from: staged)
        try await library.discard(staged)
        return list
    }

    /// The bytes of the renditions that the list of a version names, each compared with the list.
    func texts(_ version: VersionName) async throws -> [String: String] {
        var texts: [String: String] = [:]
        for (name, rendition) in try await library.sizes(of: version, asset).renditions {
            let file = try await library.open(
                .rendition(asset, version: version, file: rendition.file))
            let bytes = file.bytes(from: 0, count: try file.length())
            #expect(BlobDigest(of: bytes).hex == rendition.made.sha256)
            texts[name] = String(decoding: bytes, as: UTF8.self)
        }
        return texts
    }

    /// All files of renditions, with the list.
    func files() throws -> [String] {
        switch kind {
        case .folder:
            let top = root.appending("edits").pushing(FilePath(asset.string)).appending("sizes")
            let names = FileManager.default.enumerator(atPath: top.string)?.allObjects ?? []
            return names.compactMap { $0 as? String }.filter { $0.contains("/") }.sorted()
        case .bucket:
            let prefix = "sizes/\(asset)/"
            return memory.keys.filter { $0.hasPrefix(prefix) }.map {
                String($0.dropFirst(prefix.count))
            }.sorted()
        }
    }

    /// Writes something else in the place of a version's list.
    func damageList(of version: VersionName) async throws {
        let bytes = Array(#"{"formatVersion":1,"renditions":"#.utf8)
        switch kind {
        case .folder:
            let list = root.appending("edits").pushing(FilePath(asset.string))
                .appending("sizes").appending("\(version)").appending(SizeList.fileName)
            try Data(bytes).write(to: URL(filePath: list.string))
        case .bucket:
            _ = try await memory.put(BlobKey("sizes/\(asset)/\(version)/list.json"), bytes)
        }
    }

    /// Reads a file as a program without Minilab's code does.
    func path(_ path: String) throws -> String {
        try String(
            contentsOfFile: root.appending("edits").pushing(FilePath(asset.string)).pushing(
                FilePath(path)
            ).string, encoding: .utf8)
    }
}

extension StoredRendition {
    /// The record of a rendition of these bytes.
    static func test(
        _ name: String, _ text: String, arrival: Int? = nil,
        format: Recipe.Format = .avif, at time: String = "2026-05-20T00:00:00Z"
    ) -> StoredRendition {
        let rendition = Rendition(
            output: Recipe.Output(format: format, colorSpace: .srgb, hdr: .drop))
        return StoredRendition(
            name, rendition,
            key: RenditionKey(
                photo: text, filters: .none, rendition: rendition, render: 1,
                owner: .operator),
            made: MadeFile(
                mediaType: format.mediaType, size: PixelSize(width: 3, height: 2),
                bytes: text.utf8.count, sha256: BlobDigest(of: text.utf8).hex),
            RenditionResult(size: PixelSize(width: 3, height: 2), quality: 0.5),
            by: Provenance.Author(
                queue: "photos", job: "j", generation: 1, attempt: 1, worker: "w", at: time,
                arrival: arrival), of: RenderOrigin(engine: "test/1"))
    }

    /// The same, alone in a staged version.
    static func test(
        _ name: String, _ text: String, in staged: StagedVersion, _ library: any LibraryStore
    ) throws -> StoredRendition {
        let rendition = test(name, text)
        try rendition.write(text, to: library.staging.begin(staged), library.staging.files)
        return rendition
    }

    fileprivate func write(_ text: String, to folder: FilePath, _ files: FileSystem) throws {
        let path = folder.pushing(FilePath(stagedName))
        try files.makeFolder(path.removingLastComponent())
        try files.write(Array(text.utf8), to: path)
    }
}

extension Recipe {
    fileprivate static let none: Recipe = {
        do throws(Failure) { return try Recipe(filters: []) } catch {
            fatalError("the empty recipe cannot be made: \(error)")
        }
    }()
}

@Suite("Renditions in a folder and in a bucket") struct SizesTests {
    typealias Kind = SizesFixture.Kind

    @Test(arguments: Kind.allCases)
    func `are published with their version, and each version has its own`(_ kind: Kind) async throws
    {
        let f = try SizesFixture(kind)
        #expect(
            try await f.publish(version(1), on: nil, ["web": "one", "list-2x": "two"]) == .published
        )
        #expect(try await f.publish(version(2), on: version(1), ["web": "three"]) == .published)
        #expect(try await f.texts(version(1)) == ["web": "one", "list-2x": "two"])
        #expect(try await f.texts(version(2)) == ["web": "three"])
        #expect(try await f.texts(version(3)) == [:])
        let web = try #require(try await f.library.sizes(of: version(2), f.asset).renditions["web"])
        let file = StoredFile.rendition(f.asset, version: version(2), file: web.file)
        #expect(try await f.library.info(of: file).bytes == 5)
        #expect(try await f.library.digest(of: file, isRead: true)?.sha256 == web.made.sha256)
        #expect(
            try await f.library.path(of: file)
                == (kind == .folder
                    ? "edits/\(f.asset)/sizes/2-2/web.avif"
                    : "sizes/\(f.asset)/2-2/web-\(web.key.prefix(8)).avif"))
        #expect(web.spec == .object(["quality": .number(0.9), "format": .string("avif")]))
    }

    @Test func `have a path in a folder that does not change`() async throws {
        let f = try SizesFixture(.folder)
        try await f.publish(version(1), on: nil, ["web": "one"])
        #expect(try f.path("current/sizes/web.avif") == "one")
        try await f.publish(version(2), on: version(1), ["web": "two"])
        #expect(try f.path("current/sizes/web.avif") == "two")
        #expect(try f.path("versions/1-1/sizes/web.avif") == "one")
        // A version without any gets the path with its first one.
        try await f.publish(version(3), on: version(2))
        try await f.add(["web": "three"], to: version(3))
        #expect(try f.path("current/sizes/web.avif") == "three")
    }

    @Test(arguments: Kind.allCases)
    func `are shown again by undo and by the publication of a draft, as files of their own`(
        _ kind: Kind
    ) async throws {
        let f = try SizesFixture(kind)
        try await f.publish(version(1), on: nil, ["web": "one"])
        try await f.publish(version(2), on: version(1), ["web": "two"])
        try await f.publish(version(3), on: version(2), showing: version(1))
        #expect(try await f.texts(version(3)) == ["web": "one"])
        try await f.add(["web": "new"], to: version(1))
        #expect(try await f.texts(version(1)) == ["web": "new"])
        #expect(try await f.texts(version(3)) == ["web": "one"])
        try await f.publish(version(4, 40), on: version(3), ["web": "draft"], isDraft: true)
        #expect(try await f.texts(version(4, 40)) == ["web": "draft"])
        try await f.publish(version(4, 41), on: version(3), publishing: version(4, 40))
        #expect(try await f.texts(version(4, 41)) == ["web": "draft"])
        if kind == .folder {
            #expect(try f.path("current/sizes/web.avif") == "draft")
            #expect(try !f.files().contains { $0.hasPrefix("4-40") })
        }
    }

    @Test(arguments: Kind.allCases)
    func `are added later, and the same ones change nothing`(_ kind: Kind) async throws {
        let f = try SizesFixture(kind)
        try await f.publish(version(1), on: nil, ["web": "one"])
        let list = try await f.add(["proof": "two"], to: version(1), fence: 901)
        #expect(list.names == ["proof", "web"])
        #expect(try await f.add(["proof": "two"], to: version(1), fence: 902) == list)
        #expect(try await f.texts(version(1)) == ["web": "one", "proof": "two"])
        #expect(try f.files().count == 3)
    }

    @Test(arguments: Kind.allCases)
    func `of one name are replaced by the job that arrived last`(_ kind: Kind) async throws {
        let f = try SizesFixture(kind)
        try await f.publish(version(1), on: nil)
        try await f.add(["web": "one"], to: version(1), arrival: 5)
        try await f.add(["web": "late"], to: version(1), arrival: 4)
        #expect(try await f.texts(version(1)) == ["web": "one"])
        try await f.add(["web": "two"], to: version(1), arrival: 6)
        #expect(try await f.texts(version(1)) == ["web": "two"])
        try await f.add(["web": "three"], to: version(1), arrival: 7, format: .webp)
        #expect(try await f.texts(version(1)) == ["web": "three"])
        // A reader of a bucket may still have the list that names an object.
        #expect(try f.files().count == (kind == .folder ? 2 : 4))
    }

    @Test(arguments: Kind.allCases)
    func `are given to no version that is gone`(_ kind: Kind) async throws {
        let f = try SizesFixture(kind)
        let nowhere = await #expect(throws: Failure.self) {
            try await f.add(["web": "one"], to: version(1))
        }
        #expect(nowhere?.code == .missingVersion)
        try await f.publish(version(1), on: nil, at: "2026-01-01T00:00:00Z")
        try await f.publish(version(2), on: version(1))
        _ = try await f.library.collect(
            f.asset, keeping: Retention(versions: 1, age: nil), now: f.library.clock,
            isDryRun: false)
        let gone = await #expect(throws: Failure.self) {
            try await f.add(["web": "one"], to: version(1))
        }
        #expect(gone?.code == .missingVersion)
        #expect(try await f.add(["web": "one"], to: version(2)).names == ["web"])
    }

    @Test(arguments: Kind.allCases)
    func `of a version are bounded in number`(_ kind: Kind) async throws {
        let f = try SizesFixture(kind)
        try await f.publish(version(1), on: nil)
        let texts = Dictionary(
            uniqueKeysWithValues: (0...SizeList.countMax).map { ("n\($0)", "text") })
        let failure = await #expect(throws: Failure.self) {
            try await f.add(texts, to: version(1))
        }
        #expect(failure?.code == .exceedsLimit)
        #expect(try await f.texts(version(1)) == [:])
    }

    @Test(arguments: Kind.allCases)
    func `that are published by a worker that dies at any call are whole, and another carries on`(
        _ kind: Kind
    ) async throws {
        var calls = 0
        while true {
            let f = try SizesFixture(kind)
            try await f.publish(version(1), on: nil, ["web": "one"])
            let isSealed = Locked(false)
            let hasDied = try await f.dying(after: calls) { library in
                let staged = try await f.seal(
                    version(2), on: version(1), ["web": "two", "proof": "three"], in: library)
                isSealed.change { $0 = true }
                _ = try await library.publish(version(2), of: f.asset, from: staged)
            }
            if try await f.library.state(of: f.asset).current?.version == "2-2" {
                #expect(try await f.texts(version(2)) == ["web": "two", "proof": "three"])
            }
            // The queue publishes only what was sealed.
            let carried =
                isSealed.now
                ? try await f.library.publish(
                    version(2), of: f.asset, from: f.staged(version(2))) : .lost
            if carried == .lost {
                try await f.library.discard(f.staged(version(2)))
                try await f.publish(version(2, 3), on: version(1), ["web": "two"])
            } else {
                #expect([.published, .alreadyPublished].contains(carried), "\(calls)")
                #expect(try await f.texts(version(2)) == ["web": "two", "proof": "three"])
                if kind == .folder { #expect(try f.path("current/sizes/web.avif") == "two") }
            }
            #expect(try await f.texts(version(1)) == ["web": "one"])
            guard hasDied else { break }
            calls += 1
        }
        #expect(calls > 5)
    }

    @Test(arguments: Kind.allCases)
    func `that are added by a worker that dies at any call are whole, and made again`(
        _ kind: Kind
    ) async throws {
        var calls = 0
        let wanted = ["web": "new", "proof": "two", "kept": "kept"]
        while true {
            let f = try SizesFixture(kind)
            try await f.publish(version(1), on: nil, ["web": "one", "kept": "kept"])
            let hasDied = try await f.dying(after: calls) { library in
                try await f.add(
                    ["web": "new", "proof": "two"], to: version(1), arrival: 2, in: library)
            }
            let left = try await f.texts(version(1))
            #expect(left["kept"] == "kept", "\(calls)")
            #expect([nil, "one", "new"].contains(left["web"]), "\(calls)")
            try await f.add(
                ["web": "new", "proof": "two"], to: version(1), fence: 901, arrival: 2)
            #expect(try await f.texts(version(1)) == wanted, "\(calls)")
            if kind == .folder { #expect(try f.path("current/sizes/proof.avif") == "two") }
            guard hasDied else { break }
            calls += 1
        }
        #expect(calls > 5)
    }

    @Test(arguments: Kind.allCases)
    func `go with their version`(_ kind: Kind) async throws {
        let f = try SizesFixture(kind)
        try await f.publish(version(1), on: nil, ["web": "one"], at: "2026-01-01T00:00:00Z")
        try await f.publish(version(2), on: version(1), ["web": "two"])
        try await f.publish(version(3, 30), on: version(2), ["web": "draft"], isDraft: true)
        let rule = Retention(versions: 1, age: nil)
        let found = try await f.library.collect(
            f.asset, keeping: rule, now: f.library.clock, isDryRun: false)
        #expect(found.versions == ["1-1"] && found.bytes > 0)
        f.memory.now += AssetHead.readerGrace + 1
        _ = try await f.library.collect(
            f.asset, keeping: rule, now: f.library.clock, isDryRun: false)
        #expect(try !f.files().contains { $0.hasPrefix("1-1/") })
        #expect(try await f.texts(version(2)) == ["web": "two"])
        #expect(try await f.texts(version(3, 30)) == ["web": "draft"])
        #expect(try await f.library.discardDraft(of: f.asset, version(3, 30)) == version(3, 30))
        if kind == .folder { #expect(try f.files() == ["2-2/list.json", "2-2/web.avif"]) }
    }

    @Test(arguments: Kind.allCases)
    func `of versions that are not current go a day after, if the rule says so`(
        _ kind: Kind
    ) async throws {
        let f = try SizesFixture(kind)
        let now = f.library.clock
        func at(_ hours: Double) -> String {
            now.addingTimeInterval(-hours * 3600).formatted(.iso8601)
        }
        try await f.publish(version(1), on: nil, ["web": "one"], at: at(100))
        try await f.publish(version(2), on: version(1), ["web": "two"], at: at(50))
        try await f.publish(version(3), on: version(2), ["web": "three"], at: at(3))
        let all = Retention(versions: 9, age: nil)
        #expect(
            try await f.library.collect(f.asset, keeping: all, now: now, isDryRun: false)
                .renditions == [])
        let current = Retention(versions: 9, age: nil, renditions: .current)
        #expect(
            try await f.library.collect(f.asset, keeping: current, now: now, isDryRun: true)
                .renditions == ["1-1"])
        let found = try await f.library.collect(
            f.asset, keeping: current, now: now, isDryRun: false)
        // Version 2 was current until three hours ago.
        #expect(found.renditions == ["1-1"] && found.versions == [])
        #expect(try await f.texts(version(1)) == [:])
        #expect(try await f.texts(version(2)) == ["web": "two"])
        f.memory.now += AssetHead.readerGrace + 1
        _ = try await f.library.collect(
            f.asset, keeping: current, now: f.library.clock, isDryRun: false)
        // The list remembers them.
        #expect(try f.files().filter { $0.hasPrefix("1-1/") } == ["1-1/list.json"])
        #expect(try await f.add(["web": "again"], to: version(1)).names == ["web"])
        #expect(try await f.texts(version(1)) == ["web": "again"])
    }

    /// Publishes a version with two renditions that a rule of retention collects, and one that is current.
    private func collectable(_ f: SizesFixture) async throws -> Retention {
        let now = f.library.clock
        func at(_ hours: Double) -> String {
            now.addingTimeInterval(-hours * 3600).formatted(.iso8601)
        }
        try await f.publish(version(1), on: nil, ["web": "one", "proof": "two"], at: at(100))
        try await f.publish(version(2), on: version(1), at: at(50))
        return Retention(versions: 9, age: nil, renditions: .current)
    }

    @Test(arguments: Kind.allCases)
    func
        `whose files went are told to those that show their version again, until they are made again`(
            _ kind: Kind
        ) async throws
    {
        let f = try SizesFixture(kind)
        let rule = try await collectable(f)
        let made = try await f.library.sizes(of: version(1), f.asset).renditions
        #expect(made.count == 2)
        for round in 0..<2 {
            let found = try await f.library.collect(
                f.asset, keeping: rule, now: f.library.clock, isDryRun: false)
            #expect(found.renditions == (round == 0 ? ["1-1"] : []))
            #expect(
                try await f.library.sizes(of: version(1), f.asset) == SizeList(gone: made))
            f.memory.now += AssetHead.readerGrace + 1
        }
        #expect(try f.files() == ["1-1/list.json"])
        try await f.publish(version(3), on: version(2), showing: version(1))
        #expect(try await f.library.sizes(of: version(3), f.asset) == SizeList(gone: made))
        let list = try await f.add(["web": "one"], to: version(3))
        #expect(list.names == ["web"] && Array(list.gone.keys) == ["proof"])
        #expect(list.renditions["web"]?.key == made["web"]?.key)
        #expect(try await f.texts(version(3)) == ["web": "one"])
        let report = try await f.library.verify(
            f.asset, allVersions: true, editors: .standard(), now: f.library.clock
        ).report
        #expect(report.isSound, "\(report.problems)")
    }

    /// A collection has listed an object that no list names, and is slow to remove it.
    @Test(arguments: [MemoryBlobStore.Call.Kind.list, .get, .delete])
    func `that are made again while a collection goes on are there afterwards`(
        _ stop: MemoryBlobStore.Call.Kind
    ) async throws {
        let f = try SizesFixture(.bucket)
        let rule = try await collectable(f)
        _ = try await f.library.collect(
            f.asset, keeping: rule, now: f.library.clock, isDryRun: false)
        f.memory.now += AssetHead.readerGrace + 1
        let (reached, goes) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let hasStopped = Locked(false)
        f.memory.pause { call in
            // After the listing of renditions, in each of its later calls.
            guard call.kind == stop, stop != .list || call.key.hasPrefix("sizes/"),
                stop != .get || call.key.hasSuffix("list.json"),
                hasStopped.change({ stopped in
                    defer { stopped = true }
                    return !stopped
                })
            else { return }
            reached.continuation.finish()
            for await _ in goes.stream {}
        }
        let collection = Task {
            try await f.library.collect(
                f.asset, keeping: rule, now: f.library.clock, isDryRun: false)
        }
        for await _ in reached.stream {}
        let list = try await f.add(
            ["web": "one"], to: version(1), at: f.library.clock.formatted(.iso8601))
        #expect(list.names == ["web"])
        #expect(try await f.texts(version(1)) == ["web": "one"])
        goes.continuation.finish()
        _ = try await collection.value
        f.memory.pause(nil)
        #expect(try await f.texts(version(1)) == ["web": "one"])
        // And what was there before goes in the end.
        f.memory.now += AssetHead.readerGrace + 1
        _ = try await f.library.collect(
            f.asset, keeping: Retention(versions: 9, age: nil), now: f.library.clock,
            isDryRun: false)
        #expect(try await f.texts(version(1)) == ["web": "one"])
        #expect(try f.files().count == 2)
    }

    @Test(arguments: Kind.allCases)
    func `whose collector dies at any call are whole or gone, and the next one ends the work`(
        _ kind: Kind
    ) async throws {
        var calls = 0
        while true {
            let f = try SizesFixture(kind)
            let rule = try await collectable(f)
            let now = f.library.clock
            let hasDied = try await f.dying(after: calls) { library in
                _ = try await library.collect(f.asset, keeping: rule, now: now, isDryRun: false)
            }
            let list = try await f.library.sizes(of: version(1), f.asset)
            #expect(Set(list.names + list.gone.keys) == ["web", "proof"], "\(calls)")
            #expect(try await f.texts(version(1)).count == list.names.count, "\(calls)")
            for _ in 0..<2 {
                _ = try await f.library.collect(
                    f.asset, keeping: rule, now: f.library.clock, isDryRun: false)
                f.memory.now += AssetHead.readerGrace + 1
            }
            #expect(try f.files() == ["1-1/list.json"], "\(calls)")
            #expect(try await f.library.sizes(of: version(1), f.asset).gone.count == 2)
            guard hasDied else { break }
            calls += 1
        }
        #expect(calls > 2)
    }

    @Test func `without a whole file are gone for a version that shows theirs again`() async throws
    {
        let f = try SizesFixture(.folder)
        try await f.publish(version(1), on: nil, ["web": "one", "cut": "two", "kept": "three"])
        let folder = f.root.appending("edits").pushing(FilePath(f.asset.string))
            .appending("sizes").appending("1-1")
        try FileManager.default.removeItem(atPath: folder.appending("web.avif").string)
        try Data("t".utf8).write(to: URL(filePath: folder.appending("cut.avif").string))
        try await f.publish(version(2), on: version(1), showing: version(1))
        let list = try await f.library.sizes(of: version(2), f.asset)
        #expect(list.names == ["kept"] && Set(list.gone.keys) == ["web", "cut"])
        #expect(try await f.texts(version(2)) == ["kept": "three"])
    }

    @Test(arguments: Kind.allCases)
    func `of a damaged list count as none when its version is shown, gets more, or is collected`(
        _ kind: Kind
    ) async throws {
        let f = try SizesFixture(kind)
        let rule = try await collectable(f)
        try await f.damageList(of: version(1))
        let failure = await #expect(throws: Failure.self) {
            try await f.library.sizes(of: version(1), f.asset)
        }
        #expect(failure?.code == .damagedVersion)
        try await f.publish(version(3), on: version(2), showing: version(1))
        #expect(try await f.library.sizes(of: version(3), f.asset).isEmpty)
        _ = try await f.library.collect(
            f.asset, keeping: rule, now: f.library.clock, isDryRun: false)
        if kind == .bucket { try await f.damageList(of: version(1)) }
        #expect(try await f.add(["web": "new"], to: version(1)).names == ["web"])
        #expect(try await f.texts(version(1)) == ["web": "new"])
    }

    @Test func `that are gone give way to those that are made, when a list is full`() throws {
        let gone = Dictionary(
            uniqueKeysWithValues: (0..<SizeList.countMax).map {
                ("n\($0)", StoredRendition.test("n\($0)", "text"))
            })
        let change = try SizeChange(
            SizeList(gone: gone), adding: ["web": StoredRendition.test("web", "one")])
        #expect(change.list.names == ["web"] && change.list.gone.count == SizeList.countMax - 1)
        #expect(try SizeList(reading: change.list.encoded(), at: "list.json") == change.list)
    }

    @Test func `that were replaced in a bucket go after the readers' grace`() async throws {
        let f = try SizesFixture(.bucket)
        try await f.publish(version(1), on: nil, ["web": "one"])
        try await f.add(["web": "two"], to: version(1))
        let rule = Retention.standard
        _ = try await f.library.collect(
            f.asset, keeping: rule, now: f.library.clock, isDryRun: false)
        #expect(try f.files().count == 3)
        f.memory.now += AssetHead.readerGrace + 1
        _ = try await f.library.collect(
            f.asset, keeping: rule, now: f.library.clock, isDryRun: false)
        #expect(try f.files().count == 2)
        #expect(try await f.texts(version(1)) == ["web": "two"])
    }

    @Test(arguments: Kind.allCases)
    func `that nobody publishes leave nothing`(_ kind: Kind) async throws {
        let f = try SizesFixture(kind)
        try await f.publish(version(1), on: nil)
        let staged = try await f.seal(version(2, 20), on: nil, ["web": "late"])
        #expect(
            try await f.library.publish(version(2, 20), of: f.asset, from: staged)
                == .conflict(current: version(1)))
        try await f.library.discard(staged)
        f.memory.now += 3 * 86_400
        _ = try await f.library.collect(
            f.asset, keeping: .standard, now: f.library.clock, isDryRun: false)
        f.memory.now += AssetHead.readerGrace + 1
        _ = try await f.library.collect(
            f.asset, keeping: .standard, now: f.library.clock, isDryRun: false)
        #expect(try f.files() == [])
    }

    @Test func `with another name than a rendition's are not believed`() throws {
        for (name, file) in [
            ("web", "../../provenance.json"), ("web", "proof.avif"), ("../web", "../web.avif"),
            ("web", "web.avif/x"), ("list", "list.json"),
        ] {
            var one = StoredRendition.test("web", "one")
            one.file = file
            let bytes = try SizeList([name: one]).encoded()
            let failure = #expect(throws: Failure.self) {
                _ = try SizeList(reading: bytes, at: "list.json")
            }
            #expect(failure?.code == .damagedVersion, "\(name) \(file)")
        }
        let list = SizeList(["web": StoredRendition.test("web", "one").namedByKey("web")])
        #expect(try SizeList(reading: list.encoded(), at: "list.json") == list)
        #expect(list.renditions["web"]?.namedPlainly("web") == StoredRendition.test("web", "one"))
    }
}
