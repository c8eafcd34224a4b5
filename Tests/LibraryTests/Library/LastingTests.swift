import Edits
import Files
import SystemPackage
import Testing

@testable import Library

/// What a power cut leaves is what was fsynced: a file by itself, its name by the folder that has it.
@Suite("Versions that a power cut leaves") struct LastingTests {
    private let first = VersionName(revision: 1, fence: "1")
    private let f: LibraryFixture

    init() throws { f = try LibraryFixture(asset: "2024/06/IMG_0001.JPG") }

    private var edits: FilePath { f.library.root.appending("edits") }

    /// The folders that have a name on the way to a version.
    private var way: [FilePath] {
        [
            edits, edits.appending("2024"), edits.appending("2024").appending("06"),
            f.library.folder(of: f.asset).path, f.library.folder(of: f.asset).shelf(.versions),
        ]
    }

    private func syncs(_ calls: [FileCall]) -> [FilePath] {
        calls.filter { $0.name == "sync" }.map(\.path)
    }

    @Test func `have a way to them that lasts before the pointer names them`() async throws {
        let staged = try await f.seal(first, on: nil)
        let recorder = FaultInjection(afterCalls: .max)
        let library = try LibraryFolder(root: f.library.root, faults: recorder)
        #expect(try await library.publish(first, of: f.asset, from: staged) == .published)
        let calls = recorder.calls
        let pointer = FileCall(name: "move", path: library.folder(of: f.asset).pointer(.versions))
        let flip = try #require(calls.firstIndex(of: pointer))
        let moved = try #require(
            calls.firstIndex(
                of: FileCall(
                    name: "move", path: library.folder(of: f.asset).folder(first, on: .versions)))
        )
        #expect(Set(way).isSubset(of: syncs(Array(calls[moved..<flip]))))
        #expect(syncs(Array(calls[flip...])).contains(library.folder(of: f.asset).path))
    }

    @Test func `have it also after a crash at any call, between move and sync too`() async throws {
        var calls = 0
        while true {
            let f = try LibraryFixture(asset: "2024/06/IMG_0001.JPG")
            let staged = try await f.seal(first, on: nil)
            let faults = FaultInjection(afterCalls: calls)
            do throws(Failure) {
                let library = try LibraryFolder(root: f.library.root, faults: faults)
                _ = try await library.publish(first, of: f.asset, from: staged)
            } catch {
                #expect(error.code == .ioFailure)
            }
            let recorder = FaultInjection(afterCalls: .max)
            let library = try LibraryFolder(root: f.library.root, faults: recorder)
            let publication = try await library.publish(first, of: f.asset, from: staged)
            #expect(publication == .published || publication == .alreadyPublished)
            let root = f.library.root
            let way = way.map {
                root.pushing(
                    FilePath(String($0.string.dropFirst(self.f.library.root.string.count + 1))))
            }
            #expect(Set(way).isSubset(of: syncs(recorder.calls)), "crashed after \(calls) calls")
            guard faults.hasStruck else { break }
            calls += 1
        }
        #expect(calls > 10)
    }

    @Test func `cost one fsync of the shelf and one of the pointer when they are not the first`()
        async throws
    {
        #expect(try await f.publish(first, on: nil) == .published)
        let second = VersionName(revision: 2, fence: "2")
        #expect(try await f.publish(second, on: first) == .published)
        let third = VersionName(revision: 3, fence: "3")
        let staged = try await f.seal(third, on: second)
        let recorder = FaultInjection(afterCalls: .max)
        let library = try LibraryFolder(root: f.library.root, faults: recorder)
        #expect(try await library.publish(third, of: f.asset, from: staged) == .published)
        #expect(
            syncs(recorder.calls) == [
                library.folder(of: f.asset).shelf(.versions), library.folder(of: f.asset).path,
            ])
    }
}
