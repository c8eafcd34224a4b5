import Edits
import Editors
import Foundation
import SystemPackage
import Testing

@testable import Library

@Suite("The entries of assets") struct EntriesTests {
    private let first = VersionName(revision: 1, fence: "1")

    private func code(_ body: () async throws -> Void) async throws -> FailureCode? {
        do {
            try await body()
            return nil
        } catch let failure as Failure {
            return failure.code
        }
    }

    /// A library where an asset with this name is edited.
    private func edited(_ asset: String) async throws -> LibraryFixture {
        let f = try LibraryFixture(asset: asset)
        #expect(try await f.publish(first, on: nil, text: asset) == .published)
        return f
    }

    /// All that lies below `edits`, each with a slash ahead.
    private func tree(_ f: LibraryFixture) throws -> Set<String> {
        let edits = f.library.root.appending("edits").string
        return Set(
            try FileManager.default.subpathsOfDirectory(atPath: edits).map { "/" + $0 })
    }

    @Test(arguments: ["drafts", "versions", "bin", "current", "draft", "lock"])
    func `photos in a folder of any name keep their histories when its name is discarded`(
        folder: String
    ) async throws {
        let f = try await edited("2024/\(folder)/p1.jpg")
        let before = try tree(f)
        let album = try AssetPath("2024")
        for name in [nil, first] {
            #expect(
                try await code { _ = try await f.library.discardDraft(of: album, name) }
                    == .unsupportedFormat)
        }
        #expect(try tree(f) == before)
        #expect(try f.currentText() == "2024/\(folder)/p1.jpg")
        #expect(try await f.library.assets(after: nil).assets == [f.asset])
        #expect(try await f.library.state(of: album) == AssetState())
        #expect(
            try await f.library.collect(
                album, keeping: Retention(versions: 1, age: nil), now: .distantFuture)
                == Collected())
        #expect(try tree(f) == before)
    }

    @Test func `an asset that was edited before has only its own versions discarded`() async throws
    {
        // 2024 was a photo; then an album took its name. Earlier releases let both have versions.
        let f = try await edited("2024")
        let photo = f.library.folder(of: f.asset).path.appending(
            "drafts/p1.jpg/versions/1-1/p1.jpg")
        try f.put("history", at: photo)
        #expect(try await f.library.discardDraft(of: f.asset, nil) == nil)
        #expect(try String(contentsOfFile: photo.string, encoding: .utf8) == "history")
        let bin = f.library.folder(of: f.asset).path.appending("bin/p1.jpg/versions/1-1/p1.jpg")
        try f.put("history", at: bin)
        #expect(
            try await code {
                _ = try await f.library.collect(
                    f.asset, keeping: Retention(versions: 1, age: nil), now: .distantFuture)
            } == .invalidValue)
        #expect(try String(contentsOfFile: bin.string, encoding: .utf8) == "history")
    }

    @Test(arguments: ["current", "draft", "lock", "bin", "versions", "drafts", "versions/9-9"])
    func `a job for what would be an asset's own entry touches nothing`(entry: String) async throws
    {
        for isEdited in [true, false] {
            let f = isEdited ? try await edited("a.jpg") : try LibraryFixture(asset: "a.jpg")
            let before = try tree(f)
            let asset = try AssetPath("a.jpg/\(entry)")
            #expect(try await f.library.state(of: asset) == AssetState())
            #expect(
                try await code { _ = try await f.library.discardDraft(of: asset, nil) }
                    == .missingAsset)
            let missing = await #expect(throws: Failure.self) {
                try await f.library.verify(
                    asset, allVersions: true, editors: .standard(), now: .now)
            }
            #expect(missing?.code == .missingAsset)
            #expect(try tree(f) == before)
            let name = VersionName(revision: isEdited ? 2 : 1, fence: "2")
            #expect(
                try await f.publish(name, on: isEdited ? first : nil, text: "next") == .published)
            #expect(try f.currentText() == "next")
        }
    }

    @Test(arguments: ["current", "draft", "lock", "bin", "versions", "drafts", "versions/9-9"])
    func `what earlier releases left of such a job is in nobody's way`(entry: String) async throws {
        let f = try LibraryFixture(asset: "a.jpg")
        try f.put(
            "", at: f.library.folder(of: f.asset).path.pushing(FilePath(entry)).appending("lock"))
        #expect(try await f.library.assets(after: nil).assets.isEmpty)
        try await f.library.checkEntries(of: f.asset)
        #expect(try await f.publish(first, on: nil, text: "first") == .published)
        #expect(try f.currentText() == "first")
        _ = try await f.library.collect(
            f.asset, keeping: Retention(versions: 1, age: nil), now: .distantFuture)
        #expect(try await f.library.discardDraft(of: f.asset, nil) == nil)
        #expect(try await f.library.assets(after: nil).assets == [f.asset])
    }

    @Test(arguments: ["current", "draft", "lock", "bin", "versions", "drafts"])
    func `an asset whose entries would meet another's is refused before it is rendered`(
        entry: String
    ) async throws {
        let photo = try await edited("2024/\(entry)/p1.jpg")
        #expect(
            try await code { try await photo.library.checkEntries(of: AssetPath("2024")) }
                == .invalidValue)
        try await photo.library.checkEntries(of: AssetPath("2025"))
        try await photo.library.checkEntries(of: AssetPath("2024/other.jpg"))
        let album = try await edited("2024")
        #expect(
            try await code {
                try await album.library.checkEntries(of: AssetPath("2024/\(entry)/p1.jpg"))
            }
                == .invalidValue)
        try await album.library.checkEntries(of: AssetPath("2024/other/p1.jpg"))
    }

    @Test func `ten thousand discards of nothing leave no inode`() async throws {
        let f = try LibraryFixture(asset: "here.jpg")
        let before = try FileManager.default.subpathsOfDirectory(atPath: f.library.root.string)
        var refused = 0
        for number in 0..<10_000 {
            let asset = try AssetPath("nowhere/\(number)/p.jpg")
            if try await code({ _ = try await f.library.discardDraft(of: asset, nil) })
                == .missingAsset
            {
                refused += 1
            }
        }
        #expect(refused == 10_000)
        #expect(try await f.library.discardDraft(of: f.asset, nil) == nil)
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: f.library.root.string) == before)
    }

    @Test func `a version that is staged nowhere makes no folder for its asset`() async throws {
        let f = try LibraryFixture()
        let staged = StagedVersion(queue: "photos", job: "job", fence: "1")
        #expect(try await f.library.publish(first, of: f.asset, from: staged) == .lost)
        #expect(try tree(f).isEmpty)
    }

    @Test(arguments: ["9-9x", "+1-1", "1-١", "01-1", "1-", "-1", "1-½", "0-1", "1-1-1", "bin"])
    func `only plain numbers are the name of a version`(text: String) {
        #expect(VersionName(text) == nil)
    }
}
