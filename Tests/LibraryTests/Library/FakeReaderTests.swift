import Edits
import Editors
import Files
import FoundationEssentials
import Testing

@testable import Library

/// A library of versions in memory, without files: all that a reader's test needs.
struct FakeReader: LibraryReader {
    var versions: [Provenance] = []
    var draft: Provenance?
    /// Whether all versions may be asked for together.
    var isWalkable = true
    let isElsewhere = false
    let identity: LibraryIdentity? = nil

    private func none<Result>(_ what: String = "file") throws(Failure) -> Result {
        throw Failure(.missingAsset, "the fake has no \(what)")
    }

    func checkPresence() async throws(Failure) {}
    func note(of queue: String) async throws(Failure) -> [UInt8]? { nil }
    func state(of asset: AssetPath) async throws(Failure) -> AssetState {
        AssetState(current: versions.first, draft: draft)
    }
    func provenance(of name: VersionName, _: AssetPath) async throws(Failure) -> Provenance? {
        versions.first { $0.version == name.description }
    }
    func sizes(of version: VersionName, _: AssetPath) async throws(Failure) -> SizeList {
        SizeList()
    }
    func history(of asset: AssetPath) async throws(Failure) -> [Provenance] {
        try isWalkable ? versions : none("history")
    }
    func assets(after: AssetPath?) async throws(Failure) -> AssetPage { AssetPage([]) }
    func pairedVideos(of asset: AssetPath) async throws(Failure) -> [PairedVideo] { [] }
    func open(_: StoredFile, _: BeginningCheck?) async throws(Failure) -> OpenFile { try none() }
    func info(of file: StoredFile) async throws(Failure) -> StoredFileInfo {
        StoredFileInfo(location: "fake", bytes: nil)
    }
    func digest(of file: StoredFile, isRead: Bool) async throws(Failure) -> StoredDigest? { nil }
    func path(of file: StoredFile) async throws(Failure) -> String { "fake" }
    func url(of: StoredFile, for: Duration) async throws(Failure) -> JobEvent.Link? { nil }
    func verify(
        _: AssetPath, allVersions: Bool, editors: EditorRegistry, now: Date
    ) async throws(Failure) -> VerifiedFiles { try none() }
}

@Suite("A reader") struct FakeReaderTests {
    private func version(_ name: VersionName, isDraft: Bool = false) -> Provenance {
        Provenance(
            version: name, parent: name.revision == 1 ? nil : .init(revision: 1, fence: "1"),
            isDraft: isDraft, mode: .replace,
            author: Provenance.Author(
                queue: "photos", job: "j\(name)", generation: 1, attempt: 1, worker: "w",
                at: "2026-01-01T00:00:00Z"), edit: "00",
            timeline: Timeline.start.edited(by: name), content: nil)
    }

    @Test func `finds versions by id, revision and role, in any store`() async throws {
        let asset = try AssetPath("a.jpg")
        let first = version(VersionName(revision: 1, fence: "1"))
        let draft = version(VersionName(revision: 2, fence: "2"), isDraft: true)
        let reader = FakeReader(versions: [first], draft: draft)
        #expect(try await reader.version("1", of: asset) == first)
        #expect(try await reader.version("draft", of: asset) == draft)
        let missing = await #expect(throws: Failure.self) {
            try await reader.version("7", of: asset)
        }
        #expect(missing?.message.contains("draft 2-2") == true)
        #expect(
            try await reader.publishedBefore(first.job, of: asset, reader.state(of: asset))
                == .kept(first))
    }

    @Test func `finds a version by its id without reading all others`() async throws {
        let asset = try AssetPath("a.jpg")
        let first = version(VersionName(revision: 1, fence: "1"))
        let reader = FakeReader(versions: [first], isWalkable: false)
        #expect(try await reader.version("1-1", of: asset) == first)
        await #expect(throws: Failure.self) { try await reader.version("1", of: asset) }
    }

    @Test func `says which version is gone that a job has made`() async throws {
        let asset = try AssetPath("a.jpg")
        let old = version(VersionName(revision: 1, fence: "9"))
        let jobs = try #require(old.publishedJobs)
        let name = VersionName(revision: 2, fence: "2")
        let current = Provenance(
            version: name, parent: VersionName(revision: 1, fence: "9"), mode: .replace,
            author: Provenance.Author(
                queue: "photos", job: "next", generation: 1, attempt: 1, worker: "w",
                at: "2026-01-01T00:00:00Z"), edit: "01", history: jobs,
            timeline: Timeline.start.edited(by: name), content: nil)
        let reader = FakeReader(versions: [current])
        let state = try await reader.state(of: asset)
        #expect(try await reader.publishedBefore(old.job, of: asset, state) == .gone("1-9"))
        #expect(try await reader.publishedBefore(nil, of: asset, state) == nil)
    }
}
