import Edits
import Files
import FoundationEssentials
import SystemPackage
import Testing

@testable import Library

@Suite("Publishing") struct PublishingTests {
    private let first = VersionName(revision: 1, fence: "100")
    private let second = VersionName(revision: 2, fence: "200")

    @Test func `a version becomes current with render, sidecar and provenance`() throws {
        let f = try LibraryFixture()
        #expect(try f.library.current(of: f.asset) == nil)
        #expect(try f.publish(first, on: nil) == .published)
        #expect(try f.library.current(of: f.asset) == first)
        #expect(try f.currentText() == "pixels")
        let names = try f.library.files.list(
            f.library.pointer(.versions, of: f.asset).appending("/."))
        #expect(names == ["IMG_0001.AAE", "IMG_0001.jpg", "provenance.json"])
        #expect(try f.library.staging.staged(in: "photos").isEmpty)
    }

    @Test func `the original is not touched`() throws {
        let f = try LibraryFixture()
        _ = try f.publish(first, on: nil)
        let original = try f.library.original(of: f.asset)
        #expect(try String(contentsOfFile: original.string, encoding: .utf8) == "original")
    }

    @Test func `publishing again after a crash finds it done`() throws {
        let f = try LibraryFixture()
        let staged = try f.seal(first, on: nil)
        #expect(try f.library.publish(first, of: f.asset, from: staged) == .published)
        #expect(try f.library.publish(first, of: f.asset, from: staged) == .alreadyPublished)
    }

    @Test func `a crash between move and pointer is finished by the next call`() throws {
        let f = try LibraryFixture()
        let staged = try f.seal(first, on: nil)
        let folder = f.library.shelf(.versions, of: f.asset).appending(first.description)
        try f.library.files.makeFolder(f.library.shelf(.versions, of: f.asset))
        try f.library.files.move(f.library.staging.folder(of: staged), to: folder)
        #expect(try f.currentText() == nil)
        #expect(try f.library.publish(first, of: f.asset, from: staged) == .published)
        #expect(try f.currentText() == "pixels")
    }

    @Test func `a link that a crash left in staging does not stand in the way`() throws {
        let f = try LibraryFixture()
        let staged = try f.seal(first, on: nil)
        let folder = f.library.shelf(.versions, of: f.asset).appending(first.description)
        try f.library.files.makeFolder(f.library.shelf(.versions, of: f.asset))
        try f.library.files.move(f.library.staging.folder(of: staged), to: folder)
        try FileManager.default.createSymbolicLink(
            atPath: f.library.staging.folder(of: staged).string,
            withDestinationPath: "versions/1-100")
        #expect(try f.library.publish(first, of: f.asset, from: staged) == .published)
        #expect(try f.library.staging.staged(in: "photos").isEmpty)
    }

    @Test func `a version made on an old revision is refused and changes nothing`() throws {
        let f = try LibraryFixture()
        _ = try f.publish(first, on: nil, text: "winner")
        let late = VersionName(revision: 1, fence: "150")
        #expect(try f.publish(late, on: nil, text: "loser") == .conflict(current: first))
        #expect(try f.currentText() == "winner")
    }

    @Test func `a zombie that publishes again after a newer edit changes nothing`() throws {
        let f = try LibraryFixture()
        let staged = try f.seal(first, on: nil, text: "old")
        _ = try f.library.publish(first, of: f.asset, from: staged)
        _ = try f.publish(second, on: first, text: "new")
        #expect(try f.library.publish(first, of: f.asset, from: staged) == .alreadyPublished)
        #expect(try f.currentText() == "new")
    }

    @Test func `a version that was staged elsewhere has to be rendered again`() throws {
        let f = try LibraryFixture()
        let staged = StagedVersion(queue: "photos", job: "job", fence: "100")
        #expect(try f.library.publish(first, of: f.asset, from: staged) == .lost)
    }

    @Test func `of many that publish at once on one revision one wins`() async throws {
        let f = try LibraryFixture()
        let library = f.library
        let asset = f.asset
        var staged: [(VersionName, StagedVersion)] = []
        for number in 0..<16 {
            let name = VersionName(revision: 1, fence: "\(1000 + number)")
            staged.append((name, try f.seal(name, on: nil, text: "\(name)")))
        }
        let results = try await withThrowingTaskGroup { group in
            for (name, staged) in staged {
                group.addTask { try library.publish(name, of: asset, from: staged) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count { $0 == .published } == 1)
        #expect(try f.currentText() == f.library.current(of: f.asset)?.description)
    }

    @Test func `a pointer that somebody else wrote is not guessed at`() throws {
        let f = try LibraryFixture()
        try f.library.files.makeFolder(f.library.folder(of: f.asset))
        try FileManager.default.createSymbolicLink(
            atPath: f.library.pointer(.versions, of: f.asset).string,
            withDestinationPath: "somewhere")
        let failure = #expect(throws: Failure.self) { try f.library.current(of: f.asset) }
        #expect(failure?.code == .ioFailure)
    }

    @Test func `discarding leaves nothing behind and may be repeated`() throws {
        let f = try LibraryFixture()
        let staged = try f.seal(first, on: nil)
        #expect(try f.library.staging.staged(in: "photos") == [staged])
        try f.library.staging.discard(staged)
        try f.library.staging.discard(staged)
        #expect(try f.library.staging.staged(in: "photos").isEmpty)
    }
}
