import Edits
import BlobStore
import Library
import Testing

@testable import BucketLibrary

@Suite("Drafts in a bucket") struct DraftTests {
    @Test func `a draft is shown to nobody, and its publication shows its files without a copy`()
        async throws
    {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, text: "one")
        #expect(
            try await f.publish(version(2, 20), on: version(1), text: "draft", isDraft: true)
                == .published)
        #expect(try await f.currentText() == "one")
        #expect(try await f.library.state(of: f.asset).draft?.version == "2-20")
        #expect(
            try await f.publish(version(2, 21), on: version(1), publishing: version(2, 20))
                == .published)
        let state = try await f.library.state(of: f.asset)
        #expect(state.current?.version == "2-21" && state.draft == nil)
        #expect(try await f.currentText() == "draft")
        #expect(!f.memory.has(f.fileKey(version(2, 21))))
        #expect(try await f.head().render?.key == f.fileKey(version(2, 20)))
        #expect(try await f.head().trash == [])
        let shown = try f.library.shownFile(of: try #require(state.current), f.asset)
        #expect(try await f.library.path(of: shown) == f.fileKey(version(2, 20)))
        #expect(try await f.library.info(of: shown).bytes == 5)
    }

    @Test func `a draft takes the place of the one before, unless that arrived later`() async throws
    {
        let f = try BucketFixture()
        _ = try await f.publish(version(1, 10), on: nil, isDraft: true, arrival: 5)
        #expect(
            try await f.publish(version(1, 11), on: nil, isDraft: true, arrival: 3)
                == .conflict(current: version(1, 10)))
        #expect(
            try await f.publish(version(1, 12), on: nil, isDraft: true, arrival: 7) == .published)
        let head = try await f.head()
        #expect(head.draft?.version == "1-12")
        #expect(head.trash.map(\.version) == ["1-10"])
    }

    @Test func `a version that arrived earlier than the one that is shown is refused`() async throws
    {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, arrival: 5)
        #expect(
            try await f.publish(version(2), on: version(1), arrival: 4)
                == .conflict(current: version(1)))
        let current = try #require(try await f.library.state(of: f.asset).current)
        #expect(try await f.library.confirm(current, of: f.asset, at: 9))
        #expect(
            try await f.publish(version(2), on: version(1), arrival: 8)
                == .conflict(current: version(1)))
        #expect(try await f.publish(version(2, 3), on: version(1), arrival: 10) == .published)
        #expect(try await f.library.state(of: f.asset).arrival == 10)
    }

    @Test func `a confirmation never goes back, and is of the current version only`() async throws {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, arrival: 5)
        let first = try #require(try await f.library.state(of: f.asset).current)
        #expect(try await f.library.confirm(first, of: f.asset, at: 9))
        #expect(try await f.library.confirm(first, of: f.asset, at: 7))
        #expect(try await f.library.state(of: f.asset).arrival == 9)
        _ = try await f.publish(version(2), on: version(1), arrival: 12)
        #expect(try await f.library.confirm(first, of: f.asset, at: 20) == false)
        #expect(try await f.library.state(of: f.asset).arrival == 12)
    }

    @Test func `a draft is discarded once, and a zombie does not bring it back`() async throws {
        let f = try BucketFixture()
        let staged = try await f.seal(version(1, 10), on: nil, isDraft: true)
        let zombie = try f.anotherMachine()
        #expect(
            try await f.library.publish(version(1, 10), of: f.asset, from: staged) == .published)
        #expect(try await f.library.discardDraft(of: f.asset, version(1, 9)) == nil)
        // A draft that came since the caller has seen none.
        #expect(try await f.library.discardDraft(of: f.asset, nil) == nil)
        #expect(
            try await f.library.discardDraft(of: f.asset, version(1, 10)) == version(1, 10))
        #expect(try await f.library.discardDraft(of: f.asset, version(1, 10)) == nil)
        #expect(
            try await zombie.library.publish(version(1, 10), of: f.asset, from: staged) == .lost)
        #expect(try await f.library.state(of: f.asset) == AssetState())
    }

    @Test func `to discard where there is nothing needs an original`() async throws {
        let f = try BucketFixture()
        #expect(try await f.library.discardDraft(of: f.asset, nil) == nil)
        let failure = await #expect(throws: Failure.self) {
            try await f.library.discardDraft(of: AssetPath("nothing.jpg"), nil)
        }
        #expect(failure?.code == .missingAsset)
    }

    @Test func `a discarded draft that another worker made is found though the head is old`()
        async throws
    {
        let f = try BucketFixture()
        _ = try await f.library.state(of: f.asset)
        let other = try f.anotherMachine()
        _ = try await other.publish(version(1, 10), on: nil, isDraft: true)
        #expect(
            try await f.library.discardDraft(of: f.asset, version(1, 10)) == version(1, 10))
    }
}

@Suite("Links between versions of an asset") struct LinkTests {
    @Test func `undo and redo copy nothing, and links name real objects however often`()
        async throws
    {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, text: "one")
        _ = try await f.publish(version(2), on: version(1), text: "two")
        _ = try await f.publish(version(3), on: version(2), showing: version(1))
        _ = try await f.publish(version(4), on: version(3), showing: version(3))
        _ = try await f.publish(version(5), on: version(4), showing: version(4))
        #expect(try await f.currentText() == "one")
        let links = try #require(f.memory.text(f.fileKey(version(5), "links.json")))
        #expect(links.contains("1-1/IMG_0001.jpg") && !links.contains("4-4"))
        #expect(!f.memory.has(f.fileKey(version(5))))
        #expect(try await f.head().history[0].links == ["1-1"])
        let other = try f.anotherMachine()
        #expect(try await other.currentText() == "one")
        #expect(try await other.library.history(of: f.asset).count == 5)
    }

    @Test func `a linked version is carried on by another machine`() async throws {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, text: "one")
        _ = try await f.publish(version(2), on: version(1), text: "two")
        let staged = try await f.seal(version(3), on: version(2), showing: version(1))
        let other = try f.anotherMachine()
        #expect(
            try await other.library.publish(version(3), of: f.asset, from: staged) == .published)
        #expect(try await other.currentText() == "one")
        #expect(try await other.head().history[0].links == ["1-1"])
    }

    @Test func `files of another asset are copied in the store`() async throws {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, text: "one")
        let first = try #require(try await f.library.state(of: f.asset).current)
        let staged = StagedVersion(queue: "photos", job: "copy", fence: "7")
        let other = try AssetPath("other.jpg")
        try f.library.staging.begin(staged)
        for file in first.content?.fileNames ?? [] {
            try await f.library.link(StoredFile(file, of: first, f.asset), as: file, into: staged)
        }
        let copy = Provenance(
            version: version(1, 7), parent: nil, mode: .replace, author: first.author,
            timeline: Timeline.start.edited(by: version(1, 7)), content: first.content)
        try await f.library.seal(staged, copy, of: other)
        #expect(try await f.library.publish(version(1, 7), of: other, from: staged) == .published)
        #expect(f.memory.text("edits/other.jpg/versions/1-7/IMG_0001.jpg") == "one")
        #expect(!f.memory.has("edits/other.jpg/versions/1-7/links.json"))
    }

    @Test func `a render that a version of the asset has is taken over`() async throws {
        let f = try BucketFixture()
        let key = RenderKey(
            photo: "00", recipe: try Recipe(filters: []), render: 1, owner: .operator)
        _ = try await f.publish(version(1), on: nil, text: "one", key: key)
        let staged = StagedVersion(queue: "photos", job: "again", fence: "7")
        guard case .claimed(let entry) = try await f.library.claim(key, of: f.asset, for: staged)
        else {
            Issue.record("the entry is not ours")
            return
        }
        try f.library.staging.begin(staged)
        let reused = try #require(try await entry.reuse(as: "IMG_9", into: staged))
        #expect(reused.render.name == "IMG_9.jpg" && reused.reusedFrom == "\(f.asset)@1-1")
        let note = try #require(try f.library.note(of: "IMG_9.jpg", staged))
        #expect(note.version == "1-1" && note.file == "IMG_0001.jpg")
        try await f.library.removeRenderRecord(key.hex)
        #expect(try await entry.reuse(as: "IMG_9", into: staged) == nil)
    }

    @Test func `links that lead out of a version are refused`() {
        for target in ["1-1/../../x", "1-1", "x/y", "1-1//y", "/1-1/x"] {
            let text = #"{"format":1,"files":{"a":"\#(target)"}}"#
            let failure = #expect(throws: Failure.self) {
                try VersionLinks(reading: Array(text.utf8), at: "links")
            }
            #expect(failure?.code == .damagedVersion, "\(target)")
        }
        let later = #expect(throws: Failure.self) {
            try VersionLinks(reading: Array(#"{"format":2}"#.utf8), at: "links")
        }
        #expect(later?.code == .laterFormat)
    }
}
