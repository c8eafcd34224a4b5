import Edits
import BlobStore
import FoundationEssentials
import Library
import Testing

@testable import BucketLibrary

@Suite("Collecting in a bucket") struct BucketCollectingTests {
    private static let two = Retention(versions: 2, age: nil)
    private static let day = 24 * 3600

    private func date(_ f: BucketFixture) -> Date {
        Date(timeIntervalSince1970: Double(f.memory.now))
    }

    private func collect(
        _ f: BucketFixture, _ retention: Retention = two, isDryRun: Bool = false
    ) async throws -> Collected {
        try await f.library.collect(
            f.asset, keeping: retention, now: date(f), isDryRun: isDryRun)
    }

    /// An asset with five versions and a draft.
    private func edited() async throws -> BucketFixture {
        let f = try BucketFixture()
        for revision in 1...5 {
            _ = try await f.publish(
                version(revision), on: revision > 1 ? version(revision - 1) : nil,
                text: "\(revision)")
        }
        _ = try await f.publish(version(6), on: version(5), text: "draft", isDraft: true)
        return f
    }

    @Test func `a first version that was never published goes, too`() async throws {
        let f = try BucketFixture()
        _ = try await f.seal(version(1), on: nil)
        #expect(try await f.library.assets(after: nil) == AssetPage([]))
        #expect(try await f.library.storedAssets(after: nil) == AssetPage([f.asset]))
        #expect(try await collect(f) == Collected())
        f.memory.now += Self.day + 1
        #expect(try await collect(f).orphans == ["1-1"])
        f.memory.now += Self.day
        #expect(try await collect(f) == Collected())
        #expect(!f.memory.keys.contains { $0.hasPrefix("edits/") })
        #expect(try await f.library.state(of: f.asset) == AssetState())
    }

    @Test func `versions go out of the history at once, and their objects after a day`()
        async throws
    {
        let f = try await edited()
        let planned = try await collect(f, isDryRun: true)
        #expect(planned.versions == ["1-1", "2-2", "3-3"] && planned.bytes > 0)
        #expect(try await f.head().trash.isEmpty)
        #expect(try await collect(f) == planned)
        #expect(try await f.library.history(of: f.asset).map(\.version) == ["5-5", "4-4"])
        #expect(try await f.library.provenance(of: version(3), f.asset) == nil)
        #expect(f.memory.has(f.fileKey(version(1))))
        f.memory.now += Self.day - 1
        #expect(try await collect(f) == Collected())
        #expect(f.memory.has(f.fileKey(version(1))))
        f.memory.now += 1
        #expect(try await collect(f) == Collected())
        #expect(!f.memory.keys.contains { $0.contains("/1-1/") || $0.contains("/3-3/") })
        #expect(try await f.head().trash.isEmpty)
        #expect(try await f.library.state(of: f.asset).draft?.version == "6-6")
        #expect(try await f.currentText() == "5")
        let calls = f.memory.calls.count
        #expect(try await collect(f) == Collected())
        // Two lists and a head: nothing is written for nothing.
        #expect(f.memory.calls.count == calls + 3)
    }

    @Test func `files that a kept version links to stay as long as it does`() async throws {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, text: "one")
        _ = try await f.publish(version(2), on: version(1), text: "two")
        _ = try await f.publish(version(3), on: version(2), showing: version(1))
        let one = Retention(versions: 1, age: nil)
        #expect(try await collect(f, one).versions == ["1-1", "2-2"])
        #expect(try await f.head().trash.map(\.version) == ["2-2"])
        f.memory.now += 3 * Self.day
        _ = try await collect(f, one)
        f.memory.now += 3 * Self.day
        _ = try await collect(f, one)
        #expect(try await f.anotherMachine().currentText() == "one")
        #expect(!f.memory.has(f.fileKey(version(2))))
        #expect(try await f.library.provenance(of: version(1), f.asset) == nil)

        // The version that linked goes, and with it what it named.
        _ = try await f.publish(version(4), on: version(3), text: "four")
        _ = try await collect(f, one)
        f.memory.now += 3 * Self.day
        _ = try await collect(f, one)
        f.memory.now += 3 * Self.day
        _ = try await collect(f, one)
        #expect(!f.memory.keys.contains { $0.contains("/1-1/") || $0.contains("/3-3/") })
        #expect(try await f.currentText() == "four")
    }

    @Test func `a sealed version whose links went to the trash has to be made again`() async throws
    {
        let f = try await edited()
        let staged = try await f.seal(version(6, 60), on: version(5), showing: version(1))
        let other = try f.anotherMachine()
        _ = try await other.library.collect(
            f.asset, keeping: Self.two, now: date(f), isDryRun: false)
        #expect(try await f.library.publish(version(6, 60), of: f.asset, from: staged) == .lost)
        f.memory.now += 2 * Self.day
        _ = try await other.library.collect(
            f.asset, keeping: Self.two, now: date(f), isDryRun: false)
        #expect(try await other.head().trash.allSatisfy { $0.version != "1-1" })
        #expect(try await f.library.publish(version(6, 60), of: f.asset, from: staged) == .lost)
        #expect(try await f.currentText() == "5")
    }

    @Test func `versions that no head names go after a day, and then cannot be published`()
        async throws
    {
        let f = try await edited()
        let staged = try await f.seal(version(6, 60), on: version(5))
        let late = try f.anotherMachine()
        f.memory.now += Self.day
        #expect(try await collect(f, .standard).orphans == [])
        f.memory.now += 1
        #expect(try await collect(f, .standard).orphans == ["6-60"])
        #expect(try await late.library.publish(version(6, 60), of: f.asset, from: staged) == .lost)
        f.memory.now += Self.day
        _ = try await collect(f, .standard)
        #expect(!f.memory.keys.contains { $0.contains("/6-60/") })
        #expect(try await late.library.publish(version(6, 60), of: f.asset, from: staged) == .lost)
        // The worker that sealed it knows it, but not that it is gone.
        #expect(try await f.library.publish(version(6, 60), of: f.asset, from: staged) == .lost)
    }

    @Test func `an object that a lock holds stays, and its version is tried again`() async throws {
        let f = try await edited()
        _ = try await collect(f)
        f.memory.lock(f.fileKey(version(1)))
        f.memory.now += 2 * Self.day
        let collected = try await collect(f)
        #expect(collected.undeleted.keys.sorted() == ["1-1"])
        #expect(collected.undeleted["1-1"]?.contains("is locked") == true)
        #expect(f.memory.has(f.fileKey(version(1))))
        #expect(try await f.head().trash.map(\.version) == ["1-1"])
    }

    @Test
    func `a collection that crashes at any request leaves what is kept, and the next ends it`()
        async throws
    {
        var calls = 0
        while true {
            let f = try await edited()
            let allowed = calls
            var hasStruck = false
            for step in 0..<2 {
                let counter = Counter()
                f.memory.fail { _ in counter.next() > allowed ? .dead : nil }
                do { _ = try await collect(f) } catch { hasStruck = true }
                f.memory.fail { _ in nil }
                #expect(try await f.anotherMachine().currentText() == "5", "\(calls), \(step)")
                let versions = try await f.library.history(of: f.asset)
                for version in versions {
                    for file in version.content?.fileNames ?? [] {
                        _ = try await f.library.open(StoredFile(file, of: version, f.asset))
                    }
                }
                f.memory.now += 2 * Self.day
            }
            for _ in 0..<2 {
                _ = try await collect(f)
                f.memory.now += 2 * Self.day
            }
            #expect(!f.memory.keys.contains { $0.contains("/1-1/") }, "\(calls)")
            guard hasStruck else { break }
            calls += 1
        }
        // A list, a head and a write; then the same with a removal of nine objects.
        #expect(calls > 10)
    }

    @Test func `an asset that nobody has edited gets no head`() async throws {
        let f = try BucketFixture()
        #expect(try await collect(f) == Collected())
        #expect(f.memory.keys == ["originals/\(f.asset)"])
    }

    @Test func `a history longer than the list is followed and collected from its end`()
        async throws
    {
        let f = try BucketFixture()
        let count = AssetHead.historyMax + 10
        for revision in 1...count {
            _ = try await f.publish(
                version(revision), on: revision > 1 ? version(revision - 1) : nil)
        }
        let other = try f.anotherMachine()
        #expect(try await other.library.history(of: f.asset).count == count)
        #expect(try await other.library.provenance(of: version(3), f.asset)?.version == "3-3")
        #expect(
            try await other.library.publish(version(3), of: f.asset, from: f.staged(version(3)))
                == .alreadyPublished)
        let keep = Retention(versions: AssetHead.historyMax + 5, age: nil)
        #expect(try await collect(f, keep).versions == (1...5).map { "\($0)-\($0)" })
        #expect(try await other.library.history(of: f.asset).count == count - 5)
        #expect(try await other.library.provenance(of: version(5), f.asset) == nil)
    }
}

/// Counts from one.
final class Counter: Sendable {
    private let count = Locked(0)
    func next() -> Int {
        count.change {
            $0 += 1
            return $0
        }
    }
}
