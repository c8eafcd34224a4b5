import NIOCore
import Synchronization

@testable import BlobStore

/// A real store whose objects were written when a model's clock says so.
final class ClockedStore: BlobStore {
    private let store: any BlobStore
    private let clock: @Sendable () -> Int
    private let times = Mutex<[BlobKey: BlobTime]>([:])

    init(_ store: any BlobStore, clock: @escaping @Sendable () -> Int) {
        (self.store, self.clock) = (store, clock)
    }

    private func time(_ key: BlobKey) -> BlobTime {
        times.withLock { $0[key] } ?? BlobTime(seconds: clock())
    }

    private func timed(_ key: BlobKey, _ blob: Blob) -> Blob {
        Blob(size: blob.size, tag: blob.tag, digest: blob.digest, modified: time(key))
    }

    func head(_ key: BlobKey) async throws(BlobError) -> Blob {
        timed(key, try await store.head(key))
    }

    func get(
        _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?,
        into sink: (ByteBuffer) async throws -> Void
    ) async throws(BlobError) -> Blob {
        timed(key, try await store.get(key, range, ifMatch: tag, into: sink))
    }

    func bytes(
        _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?, atMost limit: Int
    ) async throws(BlobError) -> BlobBytes {
        let found = try await store.bytes(key, range, ifMatch: tag, atMost: limit)
        return BlobBytes(blob: timed(key, found.blob), bytes: found.bytes)
    }

    func put(
        _ key: BlobKey, _ source: BlobSource, digest: BlobDigest, if condition: BlobCondition,
        _ attributes: BlobAttributes
    ) async throws(BlobError) -> BlobTag {
        // Before the request: who lists meanwhile sees a time.
        times.withLock { $0[key] = BlobTime(seconds: clock()) }
        return try await store.put(key, source, digest: digest, if: condition, attributes)
    }

    func copy(
        _ key: BlobKey, _ tag: BlobTag, to target: BlobKey, _ attributes: BlobAttributes
    ) async throws(BlobError) -> BlobTag {
        times.withLock { $0[target] = BlobTime(seconds: clock()) }
        return try await store.copy(key, tag, to: target, attributes)
    }

    func delete(_ keys: [BlobKey]) async throws(BlobError) -> [BlobKey: BlobError] {
        try await store.delete(keys)
    }

    func list(_ prefix: String, after: BlobKey?) async throws(BlobError) -> BlobPage {
        let page = try await store.list(prefix, after: after)
        return BlobPage(
            entries: page.entries.map {
                BlobPage.Entry(key: $0.key, size: $0.size, tag: $0.tag, modified: time($0.key))
            }, next: page.next)
    }

    func link(_ key: BlobKey, for time: Duration) async throws(BlobError) -> BlobLink {
        try await store.link(key, for: time)
    }
}
