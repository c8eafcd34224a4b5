import Edits
import Files
import FoundationEssentials
import SystemPackage
import Testing

@testable import Library

@Suite("Publishing") struct PublishingTests {
    private let first = VersionName(revision: 1, fence: "100")
    private let second = VersionName(revision: 2, fence: "200")

    @Test func `a version becomes current with render, sidecar and provenance`() async throws {
        let f = try LibraryFixture()
        #expect(try f.library.folder(of: f.asset).pointed(.versions) == nil)
        #expect(try await f.publish(first, on: nil) == .published)
        #expect(try f.library.folder(of: f.asset).pointed(.versions) == first)
        #expect(try f.currentText() == "pixels")
        let names = try f.library.files.list(
            f.library.folder(of: f.asset).pointer(.versions).appending("/."))
        #expect(names == ["IMG_0001.AAE", "IMG_0001.jpg", "provenance.json"])
        #expect(try f.library.staging.staged(in: "photos").isEmpty)
    }

    @Test func `the original is not touched`() async throws {
        let f = try LibraryFixture()
        _ = try await f.publish(first, on: nil)
        let original = try f.library.original(of: f.asset)
        #expect(try String(contentsOfFile: original.string, encoding: .utf8) == "original")
    }

    @Test func `publishing again after a crash finds it done`() async throws {
        let f = try LibraryFixture()
        let staged = try await f.seal(first, on: nil)
        #expect(try await f.library.publish(first, of: f.asset, from: staged) == .published)
        #expect(try await f.library.publish(first, of: f.asset, from: staged) == .alreadyPublished)
    }

    @Test func `a crash between move and pointer is finished by the next call`() async throws {
        let f = try LibraryFixture()
        let staged = try await f.seal(first, on: nil)
        let folder = f.library.folder(of: f.asset).shelf(.versions).appending(first.description)
        try f.library.files.makeFolder(f.library.folder(of: f.asset).shelf(.versions))
        try f.library.files.move(f.library.staging.folder(of: staged), to: folder)
        #expect(try f.currentText() == nil)
        #expect(try await f.library.publish(first, of: f.asset, from: staged) == .published)
        #expect(try f.currentText() == "pixels")
    }

    @Test func `a link that a crash left in staging does not stand in the way`() async throws {
        let f = try LibraryFixture()
        let staged = try await f.seal(first, on: nil)
        let folder = f.library.folder(of: f.asset).shelf(.versions).appending(first.description)
        try f.library.files.makeFolder(f.library.folder(of: f.asset).shelf(.versions))
        try f.library.files.move(f.library.staging.folder(of: staged), to: folder)
        try FileManager.default.createSymbolicLink(
            atPath: f.library.staging.folder(of: staged).string,
            withDestinationPath: "versions/1-100")
        #expect(try await f.library.publish(first, of: f.asset, from: staged) == .published)
        #expect(try f.library.staging.staged(in: "photos").isEmpty)
    }

    @Test func `a version made on an old revision is refused and changes nothing`() async throws {
        let f = try LibraryFixture()
        _ = try await f.publish(first, on: nil, text: "winner")
        let late = VersionName(revision: 1, fence: "150")
        #expect(try await f.publish(late, on: nil, text: "loser") == .conflict(current: first))
        #expect(try f.currentText() == "winner")
    }

    @Test func `a zombie that publishes again after a newer edit changes nothing`() async throws {
        let f = try LibraryFixture()
        let staged = try await f.seal(first, on: nil, text: "old")
        _ = try await f.library.publish(first, of: f.asset, from: staged)
        _ = try await f.publish(second, on: first, text: "new")
        #expect(try await f.library.publish(first, of: f.asset, from: staged) == .alreadyPublished)
        #expect(try f.currentText() == "new")
    }

    @Test func `a version that was staged elsewhere has to be rendered again`() async throws {
        let f = try LibraryFixture()
        let staged = StagedVersion(queue: "photos", job: "job", fence: "100")
        #expect(try await f.library.publish(first, of: f.asset, from: staged) == .lost)
    }

    @Test func `of many that publish at once on one revision one wins`() async throws {
        let f = try LibraryFixture()
        let library = f.library
        let asset = f.asset
        var staged: [(VersionName, StagedVersion)] = []
        for number in 0..<16 {
            let name = VersionName(revision: 1, fence: "\(1000 + number)")
            staged.append((name, try await f.seal(name, on: nil, text: "\(name)")))
        }
        let results = try await withThrowingTaskGroup { group in
            for (name, staged) in staged {
                group.addTask { try await library.publish(name, of: asset, from: staged) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count { $0 == .published } == 1)
        #expect(
            try f.currentText()
                == f.library.folder(of: f.asset).pointed(.versions)?.description)
    }

    @Test func `a pointer that somebody else wrote is not guessed at`() throws {
        let f = try LibraryFixture()
        try f.library.files.makeFolder(f.library.folder(of: f.asset).path)
        try FileManager.default.createSymbolicLink(
            atPath: f.library.folder(of: f.asset).pointer(.versions).string,
            withDestinationPath: "somewhere")
        let failure = #expect(throws: Failure.self) {
            try f.library.folder(of: f.asset).pointed(.versions)
        }
        #expect(failure?.code == .ioFailure)
    }

    @Test func `discarding leaves nothing behind and may be repeated`() async throws {
        let f = try LibraryFixture()
        let staged = try await f.seal(first, on: nil)
        #expect(try f.library.staging.staged(in: "photos") == [staged])
        try f.library.staging.discard(staged)
        try f.library.staging.discard(staged)
        #expect(try f.library.staging.staged(in: "photos").isEmpty)
    }
}
