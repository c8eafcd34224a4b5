import Edits
import Files
import FoundationEssentials
import MinilabTesting
import SystemPackage
import Testing

@testable import Library

/// A disk that is not mounted is played by an empty folder in the place of the library, as its mount point is one.
@Suite("The identity of a library") struct IdentityTests {
    private let f: LibraryFixture
    private var root: FilePath { f.library.root }
    private var elsewhere: FilePath { FilePath(f.folder.path).appending("elsewhere") }

    init() throws { f = try LibraryFixture() }

    private func unmount(_ path: FilePath) throws {
        try f.library.files.move(path, to: elsewhere)
        try FileManager.default.createDirectory(
            atPath: path.string, withIntermediateDirectories: false)
    }

    private func mount(_ path: FilePath) throws {
        try FileManager.default.removeItem(atPath: path.string)
        try FileSystem().move(elsewhere, to: path)
    }

    private func code(_ body: () async throws -> Void) async -> FailureCode? {
        let failure = await #expect(throws: Failure.self) { try await body() }
        return failure?.code
    }

    private func receive(_ arrival: OriginalArrival) async throws {
        _ = try await f.library.receive(arrival) { _ throws(Failure) in
            throw Failure(.internalError, "nothing is to be written")
        }
    }

    @Test func `is made once, and stays`() throws {
        let id = try #require(f.library.identity?.id)
        let again = try LibraryFolder(root: root)
        #expect(again.identity?.id == id)
        #expect(again.identity?.hasOriginals == true)
        #expect(try LibraryFolder.contents(of: root) == .library(#require(again.identity)))
        let other = try LibraryFixture()
        #expect(other.library.identity?.id != id)
    }

    @Test func `of one library is made by one of many processes that begin it at once`()
        async throws
    {
        let path = FilePath(f.folder.path).appending("new")
        let ids = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<8 {
                group.addTask { try LibraryFolder(root: path).identity?.id }
            }
            var ids: Set<String?> = []
            for try await id in group { ids.insert(id) }
            return ids
        }
        #expect(ids.count == 1)
        #expect(try FileSystem().list(path) == ["edits", "library.json", "originals", "staging"])
    }

    @Test(arguments: [
        ([], [], LibraryFolder.Contents.nothing),
        (["originals"], [], .unmarked),
        (["originals", "edits"], [], .unmarked),
        (["originals"], ["originals/a.jpg"], .unmarked),
        (["originals", "edits", "staging"], ["originals/a.jpg"], .unmarked),
        (["originals", "edits", "staging"], ["edits/a.jpg"], .unmarked),
        // The folders that an earlier release made in an empty mount point, and an empty disk.
        (["originals", "edits", "staging"], [], .nothing),
        (["edits", "staging"], [], .nothing),
        (["originals", "edits", "staging"], ["originals/lost+found"], .nothing),
        ([], ["lost+found"], .nothing),
    ])
    func `is not guessed where nothing tells of a library`(
        _ folders: [String], _ files: [String], _ expected: LibraryFolder.Contents
    ) throws {
        let path = FilePath(f.folder.path).appending("place")
        for folder in [""] + folders {
            try FileManager.default.createDirectory(
                atPath: path.string + "/" + folder, withIntermediateDirectories: true)
        }
        for file in files { try f.put("x", at: path.pushing(FilePath(file))) }
        #expect(try LibraryFolder.contents(of: path) == expected)
        #expect(try LibraryFolder.contents(of: "/nowhere/at/all") == .nothing)
    }

    @Test func `is given to a library of an earlier release, and not by a reader`() async throws {
        _ = try await f.publish(VersionName(revision: 1, fence: "1"), on: nil)
        try f.library.files.remove(root.appending("library.json"))
        let reader = try LibraryFolder(root: root, isRead: true)
        #expect(reader.identity == nil)
        #expect(try await reader.history(of: f.asset).count == 1)
        #expect(try LibraryFolder.contents(of: root) == .unmarked)
        #expect(try LibraryFolder(root: root).identity?.hasOriginals == true)
    }

    @Test func `is missed where the disk is not mounted, and nothing is made there`()
        async throws
    {
        let name = VersionName(revision: 1, fence: "1")
        let staged = try await f.seal(name, on: nil)
        try unmount(root)
        let next = StagedVersion(queue: "photos", job: "next", fence: "2")
        let arrival = OriginalArrival(try AssetPath("new.jpg"), bytes: 1)
        #expect(await code { try await f.library.checkPresence() } == .storeUnavailable)
        #expect(await code { try f.library.staging.begin(next) } == .storeUnavailable)
        #expect(await code { try f.library.staging.checkWritable() } == .storeUnavailable)
        #expect(await code { try await receive(arrival) } == .storeUnavailable)
        // Not `lost`, with which the job would be rendered again.
        #expect(
            await code { _ = try await f.library.publish(name, of: f.asset, from: staged) }
                == .storeUnavailable)
        let away = await #expect(throws: Failure.self) { try await f.library.reach() }
        #expect(away?.code == .storeUnavailable)
        #expect(try FileSystem().list(root) == [])
        try mount(root)
        try await f.library.reach()
        #expect(try await f.library.publish(name, of: f.asset, from: staged) == .published)
    }

    @Test func `of another library at its place is another one`() async throws {
        let name = VersionName(revision: 1, fence: "1")
        let staged = try await f.seal(name, on: nil)
        try LibraryIdentity(hasOriginals: true).replace(in: root)
        #expect(await code { try await f.library.checkPresence() } == .storeUnavailable)
        #expect(
            await code { _ = try await f.library.publish(name, of: f.asset, from: staged) }
                == .storeUnavailable)
    }

    @Test func `tells originals that are not mounted from an original that is missing`()
        async throws
    {
        let missing = try AssetPath("nobody.jpg")
        #expect(await code { _ = try f.library.original(of: missing) } == .missingAsset)
        _ = try f.library.openOriginal(of: f.asset)
        try await f.library.checkPresence()
        let arrival = OriginalArrival(missing, bytes: 1)
        try unmount(f.library.originals)
        #expect(await code { try await f.library.checkPresence() } == .storeUnavailable)
        #expect(await code { try await receive(arrival) } == .storeUnavailable)
        // Also to a process that starts meanwhile, with the folder or without.
        let fresh = try LibraryFolder(root: root)
        #expect(await code { try await fresh.checkPresence() } == .storeUnavailable)
        try FileSystem().remove(root.appending("originals"))
        #expect(await code { _ = try LibraryFolder(root: root) } == .storeUnavailable)
        #expect(try !FileSystem().exists(root.appending("originals")))
    }

    @Test func `knows that a library has had no original yet`() async throws {
        let path = FilePath(f.folder.path).appending("new")
        let library = try LibraryFolder(root: path)
        #expect(library.identity?.hasOriginals == false)
        try await library.checkPresence()
        try f.put("photo", at: library.originals.appending("a.jpg"))
        _ = try library.openOriginal(of: AssetPath("a.jpg"))
        #expect(try LibraryIdentity.read(in: path)?.hasOriginals == true)
        #expect(try LibraryIdentity.read(in: path)?.id == library.identity?.id)
    }

    @Test func `has to be whole, and of no later format`() async throws {
        for (text, expected) in [
            ("?", FailureCode.damagedVersion), (#"{"format":1}"#, .damagedVersion),
            (#"{"format":1,"id":"../x"}"#, .damagedVersion),
            (#"{"format":2,"id":"0"}"#, .laterFormat),
        ] {
            try f.put(text, at: root.appending("library.json"))
            #expect(await code { _ = try LibraryFolder(root: root) } == expected)
        }
    }
}

/// The next sweep has to find the versions that a worker could not remove.
@Suite("Staged versions that cannot be removed") struct LeftBehindTests {
    @Test func `are unlocked, so that any sweep removes them`() throws {
        let f = try LibraryFixture()
        let staged = StagedVersion(queue: "photos", job: "job", fence: "1")
        try f.library.staging.begin(staged)
        let other = try LibraryFolder(root: f.library.root)
        #expect(try !other.staging.sweep(staged))
        // A file in the place of the folder stands for a disk that cannot be read.
        let (folder, away) = (f.library.root.appending("staging"), f.library.root.appending("x"))
        try f.library.files.move(folder, to: away)
        try f.library.files.write([], to: folder)
        #expect(throws: Failure.self) { try f.library.staging.discard(staged) }
        try f.library.files.remove(folder)
        try f.library.files.move(away, to: folder)
        #expect(try other.staging.sweep(staged))
        #expect(try other.staging.sweepable(in: "photos").isEmpty)
    }
}
