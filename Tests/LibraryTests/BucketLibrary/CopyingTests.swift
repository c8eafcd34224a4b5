import Edits
import BlobStore
import Editors
import FoundationEssentials
import Library
import SystemPackage
import Testing

@testable import BucketLibrary

@Suite("Copying a library") struct CopyingTests {
    private var readingBack: LibraryCopy.Options {
        var options = LibraryCopy.Options()
        options.readsBack = true
        return options
    }

    @Test func `there and back again it is the same, links too`() async throws {
        let f = try await BucketFixture.edited()
        let (one, other) = (try CopyFolder(), try CopyFolder())
        let bucket = try BucketFixture.empty(MemoryBlobStore())
        let out = try await copy(f.library, one.library(), readingBack)
        #expect(out.refused == [:])
        #expect(out.summary.assets == 4 && out.summary.versions == 4)
        try await copy(one.library(), bucket.library, readingBack)
        try await copy(bucket.library, other.library(), readingBack)

        #expect(try one.tree() == other.tree())
        #expect(try one.shared() == other.shared())
        let versions = "edits/2024/IMG_0001.JPG/versions"
        #expect(
            try one.shared().contains([
                "\(versions)/1-1/IMG_0001.jpg", "\(versions)/3-3/IMG_0001.jpg",
            ]))
        #expect(try one.tree()["edits/2024/IMG_0001.JPG/current"] == "-> versions/3-3")
        #expect(try one.tree()["edits/2024/IMG_0001.JPG/draft"] == "-> drafts/4-40")
        #expect(try one.tree()["originals/2024/IMG_0001.MOV"] == "bytes of 2024/IMG_0001.MOV")
        for name in ["1-1", "2-2", "3-3"] {
            #expect(
                try one.tree()["\(versions)/\(name)/provenance.json"]
                    == f.memory.text("\(versions)/\(name)/provenance.json"))
        }
        let history = try await f.library.history(of: f.asset)
        for library in [bucket.library as any LibraryStore, try other.library()] {
            #expect(try await library.history(of: f.asset) == history)
            let report = try await library.verify(
                f.asset, allVersions: true, editors: .standard(), now: .now
            ).report
            #expect(report.problems == [])
            #expect(report.versions == ["4-40", "3-3", "2-2", "1-1"])
        }
    }

    @Test func `a second pass writes nothing`() async throws {
        let f = try await BucketFixture.edited()
        let (folder, memory) = (try CopyFolder(), MemoryBlobStore())
        let bucket = try BucketFixture.empty(memory)
        try await copy(f.library, folder.library())
        try await copy(f.library, bucket.library)
        memory.resetCalls()
        for target in [bucket.library as any CopyableLibrary, try folder.library()] {
            let again = try await copy(f.library, target)
            #expect(again.summary.tally.filesCopied == 0)
            #expect(again.summary.tally.filesSkipped > 10)
        }
        #expect(memory.calls.allSatisfy { $0.kind != .put })
    }

    @Test func `a second pass follows what was edited, published and discarded meanwhile`()
        async throws
    {
        let f = try await BucketFixture.edited()
        let (folder, memory) = (try CopyFolder(), MemoryBlobStore())
        let bucket = try BucketFixture.empty(memory)
        let targets = [bucket.library as any CopyableLibrary, try folder.library()]
        for target in targets { try await copy(f.library, target) }
        _ = try await f.publish(version(4, 41), on: version(3), publishing: version(4, 40))
        _ = try await f.publish(version(5), on: version(4, 41), text: "five")
        for target in targets {
            #expect(try await copy(f.library, target).refused == [:])
            let state = try await target.state(of: f.asset)
            #expect(state == (try await f.library.state(of: f.asset)))
            #expect(
                try await target.history(of: f.asset).map(\.version)
                    == ["5-5", "4-41", "3-3", "2-2", "1-1"])
        }
        #expect(try folder.tree().keys.allSatisfy { !$0.contains("/drafts/") })
    }

    @Test func `a copy that was edited on its own stays as it is`() async throws {
        let f = try await BucketFixture.edited()
        let (folder, bucket) = (try CopyFolder(), try BucketFixture.empty(MemoryBlobStore()))
        _ = try await bucket.publish(version(1, 7), on: nil, text: "foreign")
        try await copy(bucket.library, folder.library(), noOriginals)
        for target in [bucket.library as any CopyableLibrary, try folder.library()] {
            let result = try await copy(f.library, target)
            #expect(result.refused == [f.asset.string: .revisionConflict])
            #expect(result.summary.assets == 3)
            #expect(try await target.state(of: f.asset).current?.version == "1-7")
        }
    }

    private var noOriginals: LibraryCopy.Options {
        var options = LibraryCopy.Options()
        options.copiesOriginals = false
        return options
    }

    @Test func `a damaged file is reported, its asset is not shown, and the others go on`()
        async throws
    {
        for (key, code) in [
            ("edits/2024/IMG_0001.JPG/versions/1-1/IMG_0001.jpg", FailureCode.damagedVersion),
            ("edits/2024/IMG_0001.JPG/versions/2-2/provenance.json", .damagedVersion),
            ("originals/2024/IMG_0001.JPG", .damagedVersion),
        ] {
            let (f, source) = (try await BucketFixture.edited(), try CopyFolder())
            try await copy(f.library, source.library())
            let text = try #require(try source.tree()[key])
            try source.write(
                key.hasSuffix("json")
                    ? text.replacing("\"worker\" : \"w\"", with: "\"worker\" : \"v\"")
                    : "rotten", at: key)
            let bucket = try BucketFixture.empty(MemoryBlobStore())
            let result = try await copy(source.library(), bucket.library)
            #expect(result.refused == [bucket.asset.string: code], "\(key)")
            #expect(result.summary.assets == 3)
            #expect(try await bucket.head().current == nil)
            #expect(try await bucket.head().serial == 0)
        }
    }

    @Test func `an original that somebody puts while it is copied is not replaced`() async throws {
        let f = try await BucketFixture.edited()
        try f.memory.set("ours", at: "originals/z.JPG")
        let memory = MemoryBlobStore()
        let bucket = try BucketFixture.empty(memory)
        memory.pause { call in
            guard call.kind == .put, call.key == "originals/z.JPG", !memory.has(call.key) else {
                return
            }
            do { try memory.set("theirs", at: call.key) } catch { Issue.record(error) }
        }
        let report = try await copy(f.library, bucket.library)
        #expect(memory.text("originals/z.JPG") == "theirs")
        #expect(report.refused == ["z.JPG": .revisionConflict])
    }

    @Test func `another original of the name is not replaced`() async throws {
        let f = try await BucketFixture.edited()
        let (folder, memory) = (try CopyFolder(), MemoryBlobStore())
        let bucket = try BucketFixture.empty(memory)
        try memory.set("another", at: "originals/z.JPG")
        try folder.write("another", at: "originals/z.JPG")
        for target in [bucket.library as any CopyableLibrary, try folder.library()] {
            #expect(try await copy(f.library, target).refused == ["z.JPG": .revisionConflict])
        }
        #expect(memory.text("originals/z.JPG") == "another")
        #expect(try folder.tree()["originals/z.JPG"] == "another")
    }

    @Test func `an edit that found nothing to change counts at the copy too`() async throws {
        let f = try await BucketFixture.edited()
        let current = try #require(try await f.library.state(of: f.asset).current)
        #expect(try await f.library.confirm(current, of: f.asset, at: 77))
        let (folder, bucket) = (try CopyFolder(), try BucketFixture.empty(MemoryBlobStore()))
        for target in [bucket.library as any CopyableLibrary, try folder.library()] {
            try await copy(f.library, target)
            #expect(try await target.state(of: f.asset).arrival == 77)
        }
    }

    @Test func `what gc removes at the copy is not made current`() async throws {
        let f = try await BucketFixture.edited()
        let memory = MemoryBlobStore()
        let bucket = try BucketFixture.empty(memory, clock: memory)
        try await copy(f.library, bucket.library)
        let head = try #require(memory.text("current/\(f.asset)"))
        try memory.remove("current/\(f.asset)")
        #expect(head.contains("3-3"))
        memory.now += 3 * 86_400
        _ = try await bucket.library.collect(
            f.asset, keeping: .standard, now: Date(timeIntervalSince1970: Double(memory.now)),
            isDryRun: false)
        let later = try bucket.anotherMachine()
        let result = try await copy(f.library, later.library)
        #expect(result.refused == [f.asset.string: .revisionConflict])
    }

    @Test func `a store that is away ends the copy, and is no fault of an asset`() async throws {
        let f = try await BucketFixture.edited()
        let memory = MemoryBlobStore()
        let bucket = try BucketFixture.empty(memory)
        memory.fail { $0.kind == .put ? .before(.unavailable) : nil }
        let failure = await #expect(throws: Failure.self) {
            try await copy(f.library, bucket.library)
        }
        #expect(failure?.code == .storeUnavailable)
        memory.fail { _ in nil }
        #expect(try await copy(f.library, bucket.library).refused == [:])
    }

    @Test func `what a killed copy left in staging goes with the next one`() async throws {
        let f = try await BucketFixture.edited()
        let folder = try CopyFolder()
        try folder.write("half", at: "staging/.copy/0123@9-9/IMG_0001.jpg")
        try await copy(f.library, folder.library())
        let left = try FileManager.default.contentsOfDirectory(
            atPath: folder.root.appending("staging/.copy").string)
        #expect(left == [])
    }
}
