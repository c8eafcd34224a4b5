import Edits
import Files
import Foundation
import SystemPackage
import Testing

@testable import Library

@Suite("Renders that are there already") struct RenderReuseTests {
    private let f: LibraryFixture
    private let key: RenderKey
    private let name = VersionName(revision: 1, fence: "1")

    init() throws {
        f = try LibraryFixture()
        key = RenderKey(
            photo: "00", recipe: try Recipe(filters: [Filter("CISepiaTone")]), render: 1,
            owner: .operator)
    }

    private func claimed(_ job: StagedVersion, _ key: RenderKey? = nil) async throws -> RenderFile {
        let claim = try await f.library.claim(key ?? self.key, of: f.asset, for: job)
        guard case .claimed(let entry) = claim, let file = entry as? RenderFile else {
            throw Failure(.internalError, "somebody has the entry")
        }
        return file
    }

    private func job(_ name: String, fence: String = "9") throws -> StagedVersion {
        let job = StagedVersion(queue: "photos", job: name, fence: fence)
        _ = try f.library.staging.begin(job)
        return job
    }

    /// Makes a version whose render is offered to others.
    private func offered(isPublished: Bool = true) async throws -> FilePath {
        let staged = try await f.seal(name, on: nil, key: key)
        let entry = try await claimed(staged)
        let version = try f.library.folder(of: f.asset).provenance(
            in: f.library.staging.folder(of: staged))
        try await entry.offer(version, of: f.asset, in: staged)
        if isPublished { _ = try await f.library.publish(name, of: f.asset, from: staged) }
        return isPublished
            ? f.library.folder(of: f.asset).folder(name, on: .versions)
            : f.library.staging.folder(of: staged)
    }

    /// Removes the unused records, and returns their number.
    private func removedRecords() async throws -> Int {
        func count() throws -> Int {
            try FileManager.default.subpathsOfDirectory(atPath: f.library.renders.string).count {
                !$0.hasPrefix("ab") && $0.contains("/")
            }
        }
        let before = try count()
        try await f.library.removeUnusedRenderRecords()
        return try before - count()
    }

    private func text(_ path: FilePath) throws -> String {
        try String(contentsOfFile: path.string, encoding: .utf8)
    }

    @Test func `are offered and free at once, however long somebody keeps the entry`() async throws
    {
        let staged = try await f.seal(name, on: nil, key: key)
        let entry = try await claimed(staged)
        let version = try f.library.folder(of: f.asset).provenance(
            in: f.library.staging.folder(of: staged))
        try await entry.offer(version, of: f.asset, in: staged)
        #expect(try await claimed(job("other")).key == entry.key)
    }

    @Test(arguments: [true, false])
    func `are linked under our name, whether published yet or not`(isPublished: Bool) async throws {
        let folder = try await offered(isPublished: isPublished)
        let ours = try job("other")
        let reused = try #require(try await claimed(ours).reuse(as: "IMG_2", into: ours))
        #expect(reused.reusedFrom == "2024/IMG_0001.JPG@1-1")
        #expect(reused.render.name == "IMG_2.jpg")
        let path = f.library.staging.folder(of: ours).appending("IMG_2.jpg")
        #expect(try text(path) == "pixels")
        let numbers = try [path, folder.appending("IMG_0001.jpg")].map {
            try FileManager.default.attributesOfItem(atPath: $0.string)[.systemFileNumber] as? Int
        }
        #expect(numbers[0] == numbers[1])
    }

    @Test func `are not recorded as reused when our own job made them before it crashed`()
        async throws
    {
        _ = try await offered(isPublished: false)
        let again = try job("job", fence: "10")
        let reused = try #require(try await claimed(again).reuse(as: "IMG_2", into: again))
        #expect(reused.reusedFrom == nil)
    }

    @Test(arguments: ["render", "length", "provenance", "folder", "record"])
    func `are made anew when anything is damaged, and nothing of the old one is touched`(
        part: String
    ) async throws {
        let folder = try await offered()
        let render = folder.appending("IMG_0001.jpg")
        switch part {
        case "render": try f.put("pixelz", at: render)
        case "length": try f.put("pix", at: render)
        case "provenance":
            let path = folder.appending(Provenance.fileName)
            try f.put(try text(path).replacing("test/1", with: "test/2"), at: path)
        case "folder": try FileManager.default.removeItem(atPath: folder.string)
        default: try f.put("{", at: f.library.path(of: key))
        }
        let before = part == "folder" ? "" : try text(render)
        let ours = try job("other")
        let entry = try await claimed(ours)
        #expect(try await entry.reuse(as: "IMG_0001", into: ours) == nil)
        // What stayed linked here would be written over by the render, and with it the other version's.
        #expect(try f.library.files.list(f.library.staging.folder(of: ours)).isEmpty)
        if part != "folder" { #expect(try text(render) == before) }
        #expect(entry.record.sources.isEmpty && entry.record.holder == "photos/other")
    }

    @Test func `are not taken from a version whose key is another one`() async throws {
        _ = try await offered()
        let other = RenderKey(
            photo: "01", recipe: try Recipe(filters: [Filter("CISepiaTone")]), render: 1,
            owner: .operator)
        let path = f.library.path(of: other)
        try f.put(try text(f.library.path(of: key)), at: path)
        let ours = try job("other")
        #expect(try await claimed(ours, other).reuse(as: "IMG_2", into: ours) == nil)
    }

    @Test func `are taken from an older version when the newest is gone`() async throws {
        _ = try await offered()
        let second = VersionName(revision: 2, fence: "2")
        let staged = try await f.seal(second, on: name, key: key)
        let version = try f.library.folder(of: f.asset).provenance(
            in: f.library.staging.folder(of: staged))
        try await claimed(staged).offer(version, of: f.asset, in: staged)
        try f.library.staging.discard(staged)
        let ours = try job("other")
        let reused = try #require(try await claimed(ours).reuse(as: "IMG_2", into: ours))
        #expect(reused.reusedFrom == "2024/IMG_0001.JPG@1-1")
    }

    @Test func `are waited for by others, and not by the job that lost them`() async throws {
        let ours = try job("one")
        let entry = try await claimed(ours)
        #expect(try await entry.reuse(as: "IMG_1", into: ours) == nil)
        guard case .busy = try await f.library.claim(key, of: f.asset, for: job("two")),
            case .lost = try await f.library.claim(key, of: f.asset, for: job("one", fence: "10"))
        else {
            Issue.record("a second one has the entry")
            return
        }
        withExtendedLifetime(entry) {}
    }

    @Test func `are free again when their holder is gone`() async throws {
        do { _ = try await claimed(job("one")) }
        _ = try await claimed(job("two"))
    }

    @Test func `of no version are removed, unless a job has them open`() async throws {
        let folder = try await offered()
        #expect(try await removedRecords() == 0)
        try FileManager.default.removeItem(atPath: folder.string)
        do {
            let entry = try await claimed(job("one"))
            #expect(try await removedRecords() == 0)
            withExtendedLifetime(entry) {}
        }
        #expect(try await removedRecords() == 1)
        #expect(try await removedRecords() == 0)
        // What nobody here wrote is left alone.
        let stray = f.library.renders.appending("ab").appending("README")
        try f.put("?", at: stray)
        #expect(try await removedRecords() == 0)
        #expect(try text(stray) == "?")
    }

    @Test func `are remembered for so few versions that a million duplicates do not add up`() throws
    {
        var record = RenderRecord()
        for number in 0..<10 {
            record.add(
                RenderRecord.Source(
                    asset: try AssetPath("a"), version: "\(number + 1)-1", isDraft: false,
                    queue: "photos", job: "j"))
        }
        #expect(record.sources.map(\.version) == ["10-1", "9-1", "8-1", "7-1"])
        #expect(try RenderRecord(Array(record.encoded())) == record)
    }

    @Test func `have keys that tell photos, recipes, outputs and engines apart`() throws {
        let sepia = try Filter("CISepiaTone", ["intensity": 0.8])
        let recipes = [
            try Recipe(filters: [sepia]),
            try Recipe(filters: [sepia, sepia]),
            try Recipe(filters: [sepia], output: Recipe.Output(quality: 0.8)),
            try Recipe(filters: [sepia], output: Recipe.Output(strip: .gps)),
            try Recipe(filters: [sepia], output: Recipe.Output(previews: [64])),
        ]
        var keys = recipes.map {
            RenderKey(photo: "00", recipe: $0, render: 1, owner: .operator).hex
        }
        keys.append(
            RenderKey(photo: "01", recipe: recipes[0], render: 1, owner: .operator).hex)
        keys.append(
            RenderKey(photo: "00", recipe: recipes[0], render: 2, owner: .operator).hex)
        for owner in [Owner.tenant(try JobID("shop")), .photo("shop")] {
            keys.append(
                RenderKey(photo: "00", recipe: recipes[0], render: 1, owner: owner).hex)
        }
        #expect(Set(keys).count == keys.count)
        #expect(
            RenderKey(photo: "00", recipe: recipes[0], render: 1, owner: .operator).hex
                == keys[0])
    }
}
