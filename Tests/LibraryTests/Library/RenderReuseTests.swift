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
            photo: "00", recipe: try Recipe(filters: [Filter("CISepiaTone")]), engine: "test/1",
            owner: .operator)
    }

    private func claimed(_ job: StagedVersion, _ key: RenderKey? = nil) throws -> RenderFile {
        guard case .claimed(let entry) = try f.library.claim(key ?? self.key, for: job) else {
            throw Failure(.internalError, "somebody has the entry")
        }
        return entry
    }

    private func job(_ name: String, fence: String = "9") throws -> StagedVersion {
        let job = StagedVersion(queue: "photos", job: name, fence: fence)
        _ = try f.library.staging.begin(job)
        return job
    }

    /// Makes a version whose render is offered to others.
    private func offered(isPublished: Bool = true) throws -> FilePath {
        let staged = try f.seal(name, on: nil, key: key)
        let entry = try claimed(staged)
        let version = try f.library.provenance(in: f.library.staging.folder(of: staged))
        try f.library.offer(entry, version, of: f.asset, in: staged)
        if isPublished { _ = try f.library.publish(name, of: f.asset, from: staged) }
        return isPublished
            ? f.library.folder(name, on: .versions, of: f.asset)
            : f.library.staging.folder(of: staged)
    }

    private func text(_ path: FilePath) throws -> String {
        try String(contentsOfFile: path.string, encoding: .utf8)
    }

    @Test func `are offered and free at once, however long somebody keeps the entry`() throws {
        let staged = try f.seal(name, on: nil, key: key)
        let entry = try claimed(staged)
        let version = try f.library.provenance(in: f.library.staging.folder(of: staged))
        try f.library.offer(entry, version, of: f.asset, in: staged)
        #expect(try claimed(job("other")).key == entry.key)
    }

    @Test(arguments: [true, false])
    func `are linked under our name, whether published yet or not`(isPublished: Bool) throws {
        let folder = try offered(isPublished: isPublished)
        let ours = try job("other")
        let reused = try #require(try f.library.reuse(claimed(ours), as: "IMG_2", into: ours))
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
        throws
    {
        _ = try offered(isPublished: false)
        let again = try job("job", fence: "10")
        let reused = try #require(try f.library.reuse(claimed(again), as: "IMG_2", into: again))
        #expect(reused.reusedFrom == nil)
    }

    @Test(arguments: ["render", "length", "provenance", "folder", "record"])
    func `are made anew when anything is damaged, and nothing of the old one is touched`(
        part: String
    ) throws {
        let folder = try offered()
        let render = folder.appending("IMG_0001.jpg")
        switch part {
        case "render": try f.put("pixelz", at: render)
        case "length": try f.put("pix", at: render)
        case "provenance":
            let path = folder.appending(Provenance.fileName)
            try f.put(try text(path).replacing("test/1", with: "test/2"), at: path)
        case "folder": try FileManager.default.removeItem(atPath: folder.string)
        default: try f.put("{", at: f.library.path(ofRender: key.hex))
        }
        let before = part == "folder" ? "" : try text(render)
        let ours = try job("other")
        let entry = try claimed(ours)
        #expect(try f.library.reuse(entry, as: "IMG_0001", into: ours) == nil)
        // What stayed linked here would be written over by the render, and with it the other version's.
        #expect(try f.library.files.list(f.library.staging.folder(of: ours)).isEmpty)
        if part != "folder" { #expect(try text(render) == before) }
        #expect(entry.record.sources.isEmpty && entry.record.holder == "photos/other")
    }

    @Test func `are not taken from a version whose key is another one`() throws {
        _ = try offered()
        let other = RenderKey(
            photo: "01", recipe: try Recipe(filters: [Filter("CISepiaTone")]), engine: "test/1",
            owner: .operator)
        let path = f.library.path(ofRender: other.hex)
        try f.put(try text(f.library.path(ofRender: key.hex)), at: path)
        let ours = try job("other")
        #expect(try f.library.reuse(claimed(ours, other), as: "IMG_2", into: ours) == nil)
    }

    @Test func `are taken from an older version when the newest is gone`() throws {
        _ = try offered()
        let second = VersionName(revision: 2, fence: "2")
        let staged = try f.seal(second, on: name, key: key)
        let version = try f.library.provenance(in: f.library.staging.folder(of: staged))
        try f.library.offer(claimed(staged), version, of: f.asset, in: staged)
        try f.library.staging.discard(staged)
        let ours = try job("other")
        let reused = try #require(try f.library.reuse(claimed(ours), as: "IMG_2", into: ours))
        #expect(reused.reusedFrom == "2024/IMG_0001.JPG@1-1")
    }

    @Test func `are waited for by others, and not by the job that lost them`() throws {
        let ours = try job("one")
        let entry = try claimed(ours)
        #expect(try f.library.reuse(entry, as: "IMG_1", into: ours) == nil)
        guard case .busy = try f.library.claim(key, for: job("two")),
            case .lost = try f.library.claim(key, for: job("one", fence: "10"))
        else {
            Issue.record("a second one has the entry")
            return
        }
        withExtendedLifetime(entry) {}
    }

    @Test func `are free again when their holder is gone`() throws {
        do { _ = try claimed(job("one")) }
        _ = try claimed(job("two"))
    }

    @Test func `of no version are removed, unless a job has them open`() throws {
        let folder = try offered()
        #expect(try f.library.removeUnusedRenderRecords() == 0)
        try FileManager.default.removeItem(atPath: folder.string)
        do {
            let entry = try claimed(job("one"))
            #expect(try f.library.removeUnusedRenderRecords() == 0)
            withExtendedLifetime(entry) {}
        }
        #expect(try f.library.removeUnusedRenderRecords() == 1)
        #expect(try f.library.removeUnusedRenderRecords() == 0)
        // What nobody here wrote is left alone.
        let stray = f.library.renders.appending("ab").appending("README")
        try f.put("?", at: stray)
        #expect(try f.library.removeUnusedRenderRecords() == 0)
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
            RenderKey(photo: "00", recipe: $0, engine: "test/1", owner: .operator).hex
        }
        keys.append(
            RenderKey(photo: "01", recipe: recipes[0], engine: "test/1", owner: .operator).hex)
        keys.append(
            RenderKey(photo: "00", recipe: recipes[0], engine: "test/2", owner: .operator).hex)
        for owner in [Owner.tenant(try JobID("shop")), .photo("shop")] {
            keys.append(
                RenderKey(photo: "00", recipe: recipes[0], engine: "test/1", owner: owner).hex)
        }
        #expect(Set(keys).count == keys.count)
        #expect(
            RenderKey(photo: "00", recipe: recipes[0], engine: "test/1", owner: .operator).hex
                == keys[0])
    }
}
