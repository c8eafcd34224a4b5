import Edits
import Files
import FoundationEssentials
import SystemPackage
import Testing

@testable import BucketLibrary
@testable import Library

@Suite("What a queue leaves in the library") struct QueueNoteTests {
    private func check(_ library: any LibraryStore) async throws {
        #expect(try await library.note(of: "photos") == nil)
        try await library.keep(Array("one".utf8), of: "photos")
        try await library.keep(Array("two".utf8), of: "photos")
        try await library.keep(Array("other".utf8), of: "videos")
        #expect(try await library.note(of: "photos") == Array("two".utf8))
        #expect(try await library.note(of: "videos") == Array("other".utf8))
        // It is no asset.
        #expect(try await library.assets(after: nil).assets.isEmpty)
        #expect(try await library.storedAssets(after: nil).assets.isEmpty)
    }

    @Test func `is kept in a folder`() async throws {
        let f = try LibraryFixture()
        try await check(f.library)
        let left = try FileManager.default.contentsOfDirectory(
            atPath: f.library.root.appending("queues").string)
        #expect(left.sorted() == ["photos.json", "videos.json"])
    }

    @Test func `is kept in a bucket`() async throws {
        try await check(BucketFixture().library)
    }

    @Test func `is not written into the mount point of a disk that is absent`() async throws {
        let f = try LibraryFixture()
        try f.library.files.remove(f.library.root.appending("library.json"))
        let failure = await #expect(throws: Failure.self) {
            try await f.library.keep([], of: "photos")
        }
        #expect(failure?.code == .storeUnavailable)
    }
}
