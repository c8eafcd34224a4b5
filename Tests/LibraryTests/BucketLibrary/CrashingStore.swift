import Edits
import MinilabTesting
import NIOCore
import Synchronization

@testable import BlobStore

/// A machine's way to a store: it dies at a chosen call, and loses replies now and then.
final class CrashingStore: BlobStore {
    private let store: any BlobStore
    private let state: Mutex<State>

    private struct State {
        var random: SeededGenerator
        var callsLeft: Int
    }

    /// - Parameter callsLeft: how many calls are made before the machine dies.
    init(_ store: any BlobStore, seed: UInt64, callsLeft: Int) {
        self.store = store
        state = Mutex(State(random: SeededGenerator(seed: seed), callsLeft: callsLeft))
    }

    /// Whether the machine is dead.
    var isDead: Bool { state.withLock { $0.callsLeft <= 0 } }

    private enum Fate { case well, before, after, dead, lastWrite }

    private func call<Result>(
        isWrite: Bool = false, _ body: () async throws(BlobError) -> Result
    ) async throws(BlobError) -> Result {
        let (fate, yields) = state.withLock { state -> (Fate, Int) in
            let yields = Int.random(in: 0..<6, using: &state.random)
            state.callsLeft -= 1
            if state.callsLeft < 0 { return (.dead, yields) }
            if state.callsLeft == 0 {
                return (Bool.random(using: &state.random) ? .lastWrite : .dead, yields)
            }
            guard isWrite, Int.random(in: 0..<20, using: &state.random) == 0 else {
                return (.well, yields)
            }
            return (Bool.random(using: &state.random) ? .before : .after, yields)
        }
        for _ in 0..<yields { await Task.yield() }
        switch fate {
        case .well: return try await body()
        case .dead: throw BlobError(.unavailable, "the machine is dead, says a test.")
        case .before: throw BlobError(.unknownFate, "a call was lost, says a test.")
        case .after, .lastWrite:
            _ = try await body()
            throw BlobError(.unknownFate, "a reply was lost, says a test.")
        }
    }

    func head(_ key: BlobKey) async throws(BlobError) -> Blob {
        try await call { () throws(BlobError) in try await store.head(key) }
    }

    func get(
        _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?,
        into sink: (ByteBuffer) async throws -> Void
    ) async throws(BlobError) -> Blob {
        try await call { () throws(BlobError) in
            try await store.get(key, range, ifMatch: tag, into: sink)
        }
    }

    func bytes(
        _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?, atMost limit: Int
    ) async throws(BlobError) -> BlobBytes {
        try await call { () throws(BlobError) in
            try await store.bytes(key, range, ifMatch: tag, atMost: limit)
        }
    }

    func put(
        _ key: BlobKey, _ source: BlobSource, digest: BlobDigest, if condition: BlobCondition,
        _ attributes: BlobAttributes
    ) async throws(BlobError) -> BlobTag {
        try await call(isWrite: true) { () throws(BlobError) in
            try await store.put(key, source, digest: digest, if: condition, attributes)
        }
    }

    func copy(
        _ key: BlobKey, _ tag: BlobTag, to target: BlobKey, _ attributes: BlobAttributes
    ) async throws(BlobError) -> BlobTag {
        try await call(isWrite: true) { () throws(BlobError) in
            try await store.copy(key, tag, to: target, attributes)
        }
    }

    func delete(_ keys: [BlobKey]) async throws(BlobError) -> [BlobKey: BlobError] {
        try await call(isWrite: true) { () throws(BlobError) in try await store.delete(keys) }
    }

    func list(_ prefix: String, after: BlobKey?) async throws(BlobError) -> BlobPage {
        try await call { () throws(BlobError) in try await store.list(prefix, after: after) }
    }

    func link(_ key: BlobKey, for time: Duration) async throws(BlobError) -> BlobLink {
        try await store.link(key, for: time)
    }
}
