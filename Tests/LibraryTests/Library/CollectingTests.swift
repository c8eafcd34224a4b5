import Edits
import Files
import FoundationEssentials
import Glibc
import MinilabTesting
import SystemPackage
import Testing

@testable import Library

@Suite("Collecting") struct CollectingTests {
    private static let now: Date = {
        do {
            return try Date("2026-06-01T00:00:00Z", strategy: .iso8601)
        } catch {
            preconditionFailure("\(error)")
        }
    }()
    private static let one = Retention(versions: 1, age: nil)

    /// An asset with five versions and a draft, all old.
    private func edited() async throws -> LibraryFixture {
        let f = try LibraryFixture()
        for revision in 1...5 {
            _ = try await f.publish(name(revision), on: revision > 1 ? name(revision - 1) : nil)
        }
        let draft = VersionName(revision: 6, fence: "6")
        let staged = try await f.seal(draft, on: name(5), text: "draft", isDraft: true)
        #expect(try await f.library.publish(draft, of: f.asset, from: staged) == .published)
        return f
    }

    private func name(_ revision: Int) -> VersionName {
        VersionName(revision: revision, fence: "\(revision)")
    }

    private func names(_ f: LibraryFixture, _ shelf: Shelf = .versions) throws -> [String] {
        try f.library.files.list(f.library.folder(of: f.asset).shelf(shelf))
    }

    /// Whether all that a version says it has is there.
    private func isWhole(_ version: Provenance, _ f: LibraryFixture) throws -> Bool {
        let folder = f.library.folder(of: f.asset).folder(of: version)
        return try version.content?.fileNames.allSatisfy {
            try f.library.files.exists(folder.pushing(FilePath($0)))
        } ?? true
    }

    @Test func `what the rule does not keep goes; the current version and the draft stay`()
        async throws
    {
        let f = try await edited()
        let collected = try await f.library.collect(
            f.asset, keeping: Retention(versions: 2, age: nil), now: Self.now)
        #expect(collected.versions == ["1-1", "2-2", "3-3"])
        #expect(collected.orphans == [])
        #expect(try names(f) == ["4-4", "5-5"])
        #expect(try names(f, .drafts) == ["6-6"])
        #expect(try await f.library.state(of: f.asset).draft?.version == "6-6")
        #expect(try f.currentText() == "pixels")
    }

    @Test func `a dry run reports the same and touches nothing`() async throws {
        let f = try await edited()
        let before = try names(f)
        let planned = try await f.library.collect(
            f.asset, keeping: Self.one, now: Self.now, isDryRun: true)
        #expect(try names(f) == before)
        #expect(try await f.library.collect(f.asset, keeping: Self.one, now: Self.now) == planned)
        #expect(planned.versions.count == 4 && planned.bytes > 0)
    }

    @Test
    func
        `bytes that a kept version shares are not counted as freed, those that two collected share once`()
        async throws
    {
        let f = try await edited()
        func share(_ bytes: Int, _ versions: [Int]) throws {
            let path = f.folder.file("shared-\(bytes)")
            try Data(count: bytes).write(to: URL(filePath: path))
            for revision in versions {
                let folder = f.library.folder(of: f.asset).folder(name(revision), on: .versions)
                try f.library.files.link(FilePath(path), at: folder.appending("shared-\(bytes)"))
            }
            unlink(path)
        }
        let without = try await f.library.collect(
            f.asset, keeping: Self.one, now: Self.now, isDryRun: true)
        try share(1000, [1, 2])
        try share(70_000, [4, 5])
        let with = try await f.library.collect(f.asset, keeping: Self.one, now: Self.now)
        #expect(with.bytes == without.bytes + 1000)
    }

    @Test func `a version that never became current goes after a day`() async throws {
        let f = try await edited()
        let late = VersionName(revision: 5, fence: "9")
        let staged = try await f.seal(late, on: name(4), at: "2026-05-30T00:00:00Z")
        try f.library.files.move(
            f.library.staging.folder(of: staged),
            to: f.library.folder(of: f.asset).folder(late, on: .versions))
        let young = try Date("2026-05-30T23:00:00Z", strategy: .iso8601)
        let keep = Retention(versions: 20, age: nil)
        #expect(try await f.library.collect(f.asset, keeping: keep, now: young) == Collected())
        #expect(
            try await f.library.collect(f.asset, keeping: keep, now: Self.now).orphans == ["5-9"])
    }

    @Test func `versions behind one that was removed by hand are kept as long as the rule's age`()
        async throws
    {
        let f = try await edited()
        try f.library.files.remove(f.library.folder(of: f.asset).folder(name(3), on: .versions))
        let year = Retention(versions: 20, age: 365 * 86400)
        #expect(try await f.library.collect(f.asset, keeping: year, now: Self.now) == Collected())
        #expect(
            try await f.library.collect(f.asset, keeping: .standard, now: Self.now).orphans
                == ["1-1", "2-2"])
    }

    @Test func `an asset that nobody has edited gets no folder of its own`() async throws {
        let f = try LibraryFixture()
        #expect(
            try await f.library.collect(f.asset, keeping: Self.one, now: Self.now) == Collected())
        #expect(try f.library.files.exists(f.library.folder(of: f.asset).path) == false)
    }

    @Test func `a provenance that cannot be read stops the collection before anything goes`()
        async throws
    {
        let f = try await edited()
        try f.put(
            "{",
            at: f.library.folder(of: f.asset).folder(name(2), on: .versions).appending(
                "provenance.json"))
        let before = try names(f)
        await #expect(throws: Failure.self) {
            try await f.library.collect(f.asset, keeping: Self.one, now: Self.now)
        }
        #expect(try names(f) == before)
    }

    @Test
    func `after a crash at any file call what is kept is whole, and a second run ends the work`()
        async throws
    {
        var calls = 0
        while true {
            let f = try await edited()
            let faults = FaultInjection(afterCalls: calls)
            do {
                let library = try LibraryFolder(root: f.library.root, faults: faults)
                _ = try await library.collect(f.asset, keeping: Self.one, now: Self.now)
            } catch {
                #expect(error.code == .ioFailure)
            }
            let state = try await f.library.state(of: f.asset)
            #expect(state.current?.version == "5-5" && state.draft?.version == "6-6")
            for version in try await f.library.history(of: f.asset)
                + [state.draft].compactMap({ $0 })
            {
                #expect(try isWhole(version, f), "\(version.version) after \(calls) calls")
            }
            _ = try await f.library.collect(f.asset, keeping: Self.one, now: Self.now)
            #expect(try names(f) == ["5-5"] && names(f, .drafts) == ["6-6"])
            #expect(
                try !f.library.files.exists(f.library.folder(of: f.asset).path.appending("bin")))
            guard faults.hasStruck else { break }
            calls += 1
        }
        // Three to open the library, and at least a move and two removals for each of four versions.
        #expect(calls > 15)
    }
}
