import Edits
import Testing

@testable import Library

@Suite("History") struct HistoryTests {
    private func version(_ revision: Int, _ timeline: Timeline, isDraft: Bool = false) -> Provenance
    {
        let name = VersionName(revision: revision, fence: "1")
        return Provenance(
            version: name, parent: nil, isDraft: isDraft, mode: .replace,
            author: Provenance.Author(
                queue: nil, job: "job", generation: 1, attempt: 1, worker: "w",
                at: "2026-01-01T00:00:00Z"), timeline: timeline, content: nil)
    }

    private func name(_ revision: Int) -> VersionName {
        VersionName(revision: revision, fence: "1")
    }

    @Test func `after two edits undo goes to the first, and there is nothing to redo`() {
        let first = Timeline.start.edited(by: name(1))
        let history = History(
            [version(2, first.edited(by: name(2))), version(1, first)], draft: nil)
        #expect(history.entries.map(\.marks) == [[.current], [.undo]])
        #expect(history.undo == .version("1-1") && history.redo == .nothing)
    }

    @Test func `after one edit undo goes to the original`() {
        let history = History([version(1, Timeline.start.edited(by: name(1)))], draft: nil)
        #expect(history.undo == .original && history.redo == .nothing)
    }

    @Test func `after an undo to the original there is nothing to undo, and redo goes to the edit`()
    {
        let first = Timeline.start.edited(by: name(1))
        let history = History([version(2, first.undone(to: nil)), version(1, first)], draft: nil)
        #expect(history.undo == .nothing && history.redo == .version("1-1"))
        #expect(history.entries.map(\.marks) == [[.current], [.redo]])
    }

    @Test func `where undo would go to a version that was collected, that is reported`() {
        let second = Timeline.start.edited(by: name(1)).edited(by: name(2))
        #expect(History([version(2, second)], draft: nil).undo == .collected("1-1"))
    }

    @Test func `the draft stands first and is not current`() {
        let first = Timeline.start.edited(by: name(1))
        let draft = version(2, first.edited(by: name(2)), isDraft: true)
        let history = History([version(1, first)], draft: draft)
        #expect(history.entries.map(\.marks) == [[.draft], [.current]])
    }

    @Test func `nobody has edited: no entries and nothing to undo`() {
        let history = History([], draft: nil)
        #expect(history.entries.isEmpty && history.undo == .nothing)
    }

    @Test func `a version is found by its id, its revision or as the draft`() async throws {
        let f = try LibraryFixture()
        _ = try await f.publish(name(1), on: nil)
        _ = try await f.publish(name(2), on: name(1))
        let draft = VersionName(revision: 3, fence: "7")
        _ = try await f.library.publish(
            draft, of: f.asset, from: f.seal(draft, on: name(2), isDraft: true))
        for (text, found) in [("1", "1-1"), ("2-1", "2-1"), ("3-7", "3-7"), ("draft", "3-7")] {
            #expect(try await f.library.version(text, of: f.asset).version == found)
        }
        // A draft's revision is the next version's as well.
        let failure = await #expect(throws: Failure.self) {
            try await f.library.version("3", of: f.asset)
        }
        #expect(failure?.code == .missingVersion)
        #expect(failure?.message.contains("it has draft 3-7, 2-1, 1-1") == true)
    }

    @Test func `an asset without edit and original is missing`() async throws {
        let f = try LibraryFixture()
        let failure = await #expect(throws: Failure.self) {
            try await f.library.versions(of: AssetPath("nobody.jpg"))
        }
        #expect(failure?.code == .missingAsset)
        #expect(try await f.library.versions(of: f.asset).entries.isEmpty)
    }
}
