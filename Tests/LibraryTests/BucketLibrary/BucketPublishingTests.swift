import Edits
import BlobStore
import FoundationEssentials
import Library
import Synchronization
import SystemPackage
import Testing

@testable import BucketLibrary

@Suite("Publishing to a bucket") struct BucketPublishingTests {
    @Test func `a version becomes current with render, sidecar and provenance`() async throws {
        let f = try BucketFixture()
        #expect(try await f.library.state(of: f.asset) == AssetState())
        #expect(try await f.publish(version(1), on: nil) == .published)
        #expect(try await f.library.state(of: f.asset).current?.version == "1-1")
        #expect(try await f.currentText() == "pixels")
        #expect(
            f.memory.keys == [
                f.headKey, f.fileKey(version(1), "IMG_0001.AAE"), f.fileKey(version(1)),
                f.fileKey(version(1), "provenance.json"), "originals/\(f.asset)",
            ])
        #expect(try f.library.staging.staged(in: "photos").isEmpty)
        let head = try await f.head()
        #expect(head.render?.key == f.fileKey(version(1)))
        #expect(head.render?.sha256 == BlobDigest(of: "pixels".utf8).hex)
        #expect(head.original == "originals/\(f.asset)")
    }

    @Test func `publishing again finds it done, from any machine`() async throws {
        let f = try BucketFixture()
        #expect(try await f.publish(version(1), on: nil) == .published)
        let staged = f.staged(version(1))
        #expect(
            try await f.library.publish(version(1), of: f.asset, from: staged) == .alreadyPublished)
        let other = try f.anotherMachine()
        #expect(
            try await other.library.publish(version(1), of: f.asset, from: staged)
                == .alreadyPublished)
    }

    @Test func `a version made on an old revision is refused and changes nothing`() async throws {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, text: "winner")
        #expect(
            try await f.publish(version(1, 150), on: nil, text: "loser")
                == .conflict(current: version(1)))
        #expect(try await f.currentText() == "winner")
    }

    @Test func `a zombie that publishes again after a newer edit changes nothing`() async throws {
        let f = try BucketFixture()
        let zombie = try f.anotherMachine()
        let staged = try await zombie.seal(version(1), on: nil, text: "old")
        let other = try f.anotherMachine()
        #expect(
            try await other.library.publish(version(1), of: f.asset, from: staged) == .published)
        _ = try await f.publish(version(2), on: version(1), text: "new")
        #expect(
            try await zombie.library.publish(version(1), of: f.asset, from: staged)
                == .alreadyPublished)
        #expect(try await f.currentText() == "new")
    }

    @Test func `a version that was sealed is published by a worker with an empty scratch folder`()
        async throws
    {
        let f = try BucketFixture()
        let staged = try await f.seal(version(1), on: nil, text: "carried")
        let other = try f.anotherMachine()
        #expect(
            try await other.library.publish(version(1), of: f.asset, from: staged) == .published)
        #expect(try await other.currentText() == "carried")
    }

    @Test func `a version that was not sealed, or lost a file since, has to be made again`()
        async throws
    {
        let f = try BucketFixture()
        let staged = f.staged(version(1))
        #expect(try await f.library.publish(version(1), of: f.asset, from: staged) == .lost)
        _ = try await f.seal(version(1), on: nil)
        try f.memory.remove(f.fileKey(version(1), "IMG_0001.AAE"))
        let other = try f.anotherMachine()
        #expect(try await other.library.publish(version(1), of: f.asset, from: staged) == .lost)
        #expect(!f.memory.has(f.headKey))
    }

    @Test func `of many that publish at once on one revision one wins`() async throws {
        let f = try BucketFixture()
        var machines: [(BucketFixture, VersionName, StagedVersion)] = []
        for number in 0..<12 {
            let machine = try f.anotherMachine()
            let name = version(1, 1000 + number)
            machines.append((machine, name, try await machine.seal(name, on: nil, text: "\(name)")))
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
        for result in results where result != .published {
            #expect(result == .conflict(current: current.flatMap(VersionName.init)))
        }
    }

    @Test func `a commit whose reply is lost is found done`() async throws {
        let f = try BucketFixture()
        for revision in 1...3 {
            let staged = try await f.seal(
                version(revision), on: revision > 1 ? version(revision - 1) : nil)
            let head = f.headKey
            f.memory.failOnce(.loseReply) { $0.kind == .put && $0.key == head }
            #expect(
                try await f.library.publish(version(revision), of: f.asset, from: staged)
                    == .alreadyPublished)
        }
        #expect(try await f.library.history(of: f.asset).map(\.version) == ["3-3", "2-2", "1-1"])
    }

    @Test func `a commit that did not happen and whose reply is lost is done again`() async throws {
        let f = try BucketFixture()
        let staged = try await f.seal(version(1), on: nil)
        let head = f.headKey
        f.memory.failOnce(.before(.unknownFate)) { $0.kind == .put && $0.key == head }
        #expect(try await f.library.publish(version(1), of: f.asset, from: staged) == .published)
    }

    @Test func `a commit that lands late does no harm`() async throws {
        let f = try BucketFixture()
        let staged = try await f.seal(version(1), on: nil)
        let head = f.headKey
        // The first write is held up until the second, of the same bytes, has won.
        let isFirst = Atomic(true)
        let (late, release) = AsyncStream<Void>.makeStream()
        f.memory.pause { call in
            guard call.kind == .put, call.key == head, isFirst.exchange(false, ordering: .relaxed)
            else { return }
            for await _ in late { break }
        }
        let other = try f.anotherMachine()
        async let slow = f.library.publish(version(1), of: f.asset, from: staged)
        #expect(
            try await other.library.publish(version(1), of: f.asset, from: staged)
                != .conflict(current: nil))
        release.finish()
        let result = try await slow
        #expect(result == .published || result == .alreadyPublished)
        #expect(try await f.head().history.map(\.version) == ["1-1"])
    }

    @Test func `a store that refuses every commit is reported as an outage, after a few`()
        async throws
    {
        let f = try BucketFixture()
        let staged = try await f.seal(version(1), on: nil)
        let head = f.headKey
        let writes = Atomic(0)
        f.memory.fail { call in
            guard call.kind == .put, call.key == head else { return nil }
            writes.add(1, ordering: .relaxed)
            return .before(.unknownFate)
        }
        let failure = await #expect(throws: Failure.self) {
            try await f.library.publish(version(1), of: f.asset, from: staged)
        }
        #expect(failure?.code == .storeUnavailable)
        #expect(writes.load(ordering: .relaxed) == 3)
        f.memory.fail { _ in nil }
        #expect(try await f.library.publish(version(1), of: f.asset, from: staged) == .published)
    }

    @Test func `uploads are repeated when nobody knows whether they were done`() async throws {
        let f = try BucketFixture()
        let key = f.fileKey(version(1))
        f.memory.failOnce(.loseReply) { $0.kind == .put && $0.key == key }
        #expect(try await f.publish(version(1), on: nil) == .published)
        #expect(try await f.currentText() == "pixels")
    }

    @Test func `an outage is reported as one, and what was sealed is published after it`()
        async throws
    {
        let f = try BucketFixture()
        let staged = try await f.seal(version(1), on: nil)
        f.memory.fail { _ in .before(.unavailable) }
        let failure = await #expect(throws: Failure.self) {
            try await f.library.publish(version(1), of: f.asset, from: staged)
        }
        #expect(failure?.code == .storeUnavailable)
        f.memory.fail { _ in nil }
        #expect(try await f.library.publish(version(1), of: f.asset, from: staged) == .published)
    }

    @Test(arguments: [BlobErrorCode.denied, .noCredentials, .misconfigured, .corrupt])
    func `a store that refuses the worker is waited for, not held against the job`(
        _ code: BlobErrorCode
    ) async throws {
        let f = try BucketFixture()
        f.memory.fail { _ in .before(code) }
        for call in [f.library.reach, { _ = try await f.library.state(of: f.asset) }] {
            let failure = await #expect(throws: Failure.self) { try await call() }
            #expect(failure?.code == .storeUnavailable)
        }
        f.memory.fail { _ in nil }
        try await f.library.reach()
    }

    @Test func `originals that are refused are an outage, and one that is refused alone is none`()
        async throws
    {
        let f = try BucketFixture()
        let others = try ["a.jpg", "b.jpg"].map { try AssetPath($0) }
        for other in others { try f.memory.set("other", at: "originals/\(other)") }
        f.memory.fail { $0.key.hasPrefix("originals/") ? .before(.denied) : nil }
        for asset in [f.asset] + others {
            let failure = await #expect(throws: Failure.self) {
                try await f.library.open(.original(asset))
            }
            #expect(failure?.code == .storeUnavailable)
            let away = await #expect(throws: Failure.self) { try await f.library.reach() }
            #expect(away?.code == .storeUnavailable)
        }
        let bad = "originals/\(f.asset)"
        f.memory.fail { $0.key == bad ? .before(.denied) : nil }
        try await f.library.reach()
        // Also for a worker that has read none yet.
        let fresh = try f.anotherMachine()
        for library in [f.library, fresh.library] {
            await #expect(throws: Failure.self) { try await library.open(.original(f.asset)) }
            try await library.reach()
        }
    }

    @Test func `a bucket of originals that is gone is an outage, though HEAD says not found`()
        async throws
    {
        let f = try BucketFixture()
        _ = try await f.library.open(.original(f.asset))
        f.memory.fail { call in
            guard call.key.hasPrefix("originals/") else { return nil }
            return .before(call.kind == .head ? .notFound : .misconfigured)
        }
        let failure = await #expect(throws: Failure.self) {
            try await f.library.open(.original(f.asset))
        }
        #expect(failure?.code == .storeUnavailable)
        let away = await #expect(throws: Failure.self) { try await f.library.reach() }
        #expect(away?.code == .storeUnavailable)
        f.memory.fail { _ in nil }
        try await f.library.reach()
    }

    @Test func `a full store is noSpace`() async throws {
        let f = try BucketFixture()
        f.memory.fail { $0.kind == .put ? .before(.full) : nil }
        let failure = await #expect(throws: Failure.self) {
            _ = try await f.seal(version(1), on: nil)
        }
        #expect(failure?.code == .noSpace)
    }

    @Test func `a job that has published before does not publish a second version`() async throws {
        let f = try BucketFixture()
        #expect(try await f.publish(version(1), on: nil, job: "append", edit: "ee") == .published)
        #expect(
            try await f.publish(version(2), on: version(1), job: "append", edit: "ee")
                == .publishedBefore("1-1"))
        #expect(
            try await f.publish(version(2, 9), on: version(1), job: "append", edit: "ff")
                == .published)
        let state = try await f.library.state(of: f.asset)
        let job = PublishedJob(try #require(state.current).author, edit: "ee", version: "")
        let before = try await f.library.publishedBefore(job, of: f.asset, state)
        #expect(
            before == .kept(try #require(try await f.library.provenance(of: version(1), f.asset))))
    }

    @Test func `discarding leaves nothing behind and may be repeated`() async throws {
        let f = try BucketFixture()
        let staged = try await f.seal(version(1), on: nil)
        #expect(try f.library.staging.staged(in: "photos") == [staged])
        try await f.library.discard(staged)
        try await f.library.discard(staged)
        #expect(try f.library.staging.staged(in: "photos").isEmpty)
    }

    private static func head(
        serial: String = "1", floor: String = "1", trash: String = ""
    ) -> String {
        #"{"format":1,"serial":\#(serial),"floor":\#(floor),"history":[],"trash":[\#(trash)]}"#
    }

    @Test func `heads that somebody else wrote are not guessed at`() async throws {
        let f = try BucketFixture()
        try f.memory.set(Self.head(), at: f.headKey)
        #expect(try await f.library.state(of: f.asset) == AssetState())
        for (text, code) in [
            ("{", FailureCode.damagedVersion), (#"{"format":2}"#, .laterFormat),
            (String(repeating: " ", count: AssetHead.bytesMax + 1), .damagedVersion),
            // Numbers that nobody can add to.
            (Self.head(serial: "9223372036854775807"), .damagedVersion),
            (Self.head(serial: "-1"), .damagedVersion),
            (Self.head(floor: "9223372036854775807"), .damagedVersion),
            (Self.head(trash: #"{"version":"9-5","at":-9223372036854775808}"#), .damagedVersion),
            (
                Self.head(trash: #"{"version":"9223372036854775807-5","at":1}"#),
                .damagedVersion
            ),
        ] {
            try f.memory.set(text, at: f.headKey)
            let failure = await #expect(throws: Failure.self) {
                try await f.library.state(of: f.asset)
            }
            #expect(failure?.code == code)
        }
    }
}
