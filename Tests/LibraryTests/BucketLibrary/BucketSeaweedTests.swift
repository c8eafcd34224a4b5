import Edits
import FoundationEssentials
import Library
import MinilabTesting
import ServiceTesting
import Testing

@testable import BlobStore
@testable import BucketLibrary

@Suite("A library in a store that is really there", .timeLimit(.minutes(10)))
struct BucketSeaweedTests {
    private func withLibrary(
        _ server: StoreServer, _ body: (BucketFixture, S3Client) async throws -> Void
    ) async throws {
        guard server.isHere else { try Test.cancel("\(server.needs)") }
        try await TestStore(on: server).withClient { client in
            let f = try BucketFixture(store: client, asset: "2024/Ünder way+1.JPG")
            try await client.put(
                BlobKey("originals/\(f.asset)"), Array(BucketFixture.original.utf8))
            try await body(f, client)
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `versions are published, undone, drafted and carried on`(
        server: StoreServer
    ) async throws {
        try await withLibrary(server) { f, _ async throws in
            try await f.library.checkFormat(beginning: true)
            try await f.library.checkFormat(beginning: true)
            #expect(try await f.text(f.library.open(.original(f.asset))) == "original")
            #expect(try await f.text(f.library.open(.original(f.asset))) == "original")
            #expect(try await f.publish(version(1), on: nil, text: "one") == .published)
            #expect(try await f.publish(version(2), on: version(1), text: "two") == .published)
            #expect(
                try await f.publish(version(3), on: version(2), showing: version(1)) == .published)
            #expect(try await f.anotherMachine().currentText() == "one")
            #expect(
                try await f.publish(version(4, 40), on: version(3), text: "four", isDraft: true)
                    == .published)
            let staged = try await f.seal(
                version(4, 41), on: version(3), publishing: version(4, 40))
            let other = try f.anotherMachine()
            #expect(
                try await other.library.publish(version(4, 41), of: f.asset, from: staged)
                    == .published)
            #expect(
                try await f.library.publish(version(4, 41), of: f.asset, from: staged)
                    == .alreadyPublished)
            #expect(try await f.anotherMachine().currentText() == "four")
            #expect(
                try await f.library.history(of: f.asset).map(\.version)
                    == ["4-41", "3-3", "2-2", "1-1"])
            #expect(try await f.library.assets(after: nil) == AssetPage([f.asset]))
            #expect(try await f.library.assets(after: f.asset) == AssetPage([]))
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `of many that publish at once one wins`(
        server: StoreServer
    ) async throws {
        try await withLibrary(server) { f, _ async throws in
            var machines: [(BucketFixture, VersionName, StagedVersion)] = []
            for number in 0..<8 {
                let machine = try f.anotherMachine()
                let name = version(1, 1000 + number)
                machines.append(
                    (machine, name, try await machine.seal(name, on: nil, text: "\(name)")))
            }
            let results = try await withThrowingTaskGroup { group in
                for (machine, name, staged) in machines {
                    group.addTask {
                        try await machine.library.publish(name, of: machine.asset, from: staged)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { $0 == .published } == 1)
            let current = try await f.library.state(of: f.asset).current?.version
            #expect(try await f.currentText() == current)
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `an asset may lie below another one's name`(
        server: StoreServer
    ) async throws {
        try await withLibrary(server) { f, client async throws in
            _ = try await f.publish(version(1), on: nil, text: "one")
            let inner = try BucketFixture(
                store: client, asset: "\(f.asset)/versions/1-1/inner.jpg")
            #expect(try await inner.publish(version(1, 7), on: nil, text: "inner") == .published)
            #expect(try await inner.currentText() == "inner")
            #expect(try await f.anotherMachine().currentText() == "one")
            #expect(try await f.publish(version(2), on: version(1), text: "two") == .published)
            #expect(try await inner.publish(version(2, 8), on: version(1, 7)) == .published)
            #expect(try await f.library.assets(after: nil) == AssetPage([f.asset, inner.asset]))
            #expect(try await f.library.stored(of: f.asset).keys.sorted() == ["1-1", "2-2"])
        }
    }

    @Test(arguments: StoreServer.allCases)
    func `what nothing keeps goes in two steps`(
        server: StoreServer
    ) async throws {
        try await withLibrary(server) { f, client async throws in
            for revision in 1...3 {
                _ = try await f.publish(
                    version(revision), on: revision > 1 ? version(revision - 1) : nil,
                    text: "\(revision)")
            }
            _ = try await f.publish(version(4), on: version(3), showing: version(1))
            let one = Retention(versions: 1, age: nil)
            func collect(days: Double) async throws -> Collected {
                try await f.library.collect(
                    f.asset, keeping: one, now: Date(timeIntervalSinceNow: days * 86_400),
                    isDryRun: false)
            }
            #expect(try await collect(days: 0).versions == ["1-1", "2-2", "3-3"])
            #expect(try await f.library.stored(of: f.asset).count == 4)
            _ = try await collect(days: 2)
            #expect(try await f.library.stored(of: f.asset).keys.sorted() == ["1-1", "4-4"])
            #expect(try await f.anotherMachine().currentText() == "1")
        }
    }
}
