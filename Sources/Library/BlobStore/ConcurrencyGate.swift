import Edits
import Synchronization

/// Limits the concurrent requests to the number of ``AdaptiveConcurrency``. Other requests wait
/// in their order.
final class ConcurrencyGate: Sendable {
    /// The most waiting callers.
    static let waitersMax = 10_000

    private let concurrency: Mutex<AdaptiveConcurrency>
    private let permits: AsyncSemaphore

    init(max: Int) {
        concurrency = Mutex(AdaptiveConcurrency(max: max))
        permits = AsyncSemaphore(limit: max)
    }

    var limit: Int { permits.limit }
    var waiting: Int { permits.waiting }

    /// Waits for a permit and returns its generation. Call ``leave()`` to release the permit.
    ///
    /// Throws if the task is cancelled, or if there are too many waiters.
    func enter() async throws(BlobError) -> Int {
        guard permits.waiting < Self.waitersMax else {
            throw BlobError(
                .throttled,
                "\(Self.waitersMax) requests wait for the store already: claim fewer jobs at a "
                    + "time, or add workers.")
        }
        do { try await permits.acquire() } catch {
            throw BlobError(.cancelled, "The request to the store was cancelled.")
        }
        return concurrency.withLock { $0.generation }
    }

    func leave() { permits.release() }

    func succeeded() { change { $0.succeeded() } }

    func slowDown(in generation: Int) { change { $0.slowDown(in: generation) } }

    private func change(_ change: (inout AdaptiveConcurrency) -> Void) {
        concurrency.withLock { concurrency in
            let limit = concurrency.limit
            change(&concurrency)
            if concurrency.limit != limit { permits.limit = concurrency.limit }
        }
    }
}

/// The number of requests that may run at the same time. It is halved when the store asks to slow
/// down.
///
/// Additive increase, multiplicative decrease, as in TCP: many clients of one store converge to
/// equal shares. Source: Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for
/// Congestion Avoidance", 1989.
struct AdaptiveConcurrency: Sendable, Hashable {
    /// The number of successes after which the limit grows by one.
    static let successesPerStep = 100

    /// The upper bound of the limit.
    let max: Int

    /// The present limit; at least 1.
    private(set) var limit: Int

    /// The number of halvings, by which requests of one burst halve the limit only once.
    private(set) var generation = 0

    private var successes = 0

    init(max: Int) {
        precondition(max > 0, "a client that may send nothing")
        self.max = max
        limit = max
    }

    mutating func succeeded() {
        guard limit < max else { return }
        successes += 1
        guard successes >= Self.successesPerStep else { return }
        successes = 0
        limit += 1
    }

    /// Records that the store asked a request to slow down. The request began in `generation`.
    mutating func slowDown(in generation: Int) {
        guard generation == self.generation else { return }
        self.generation += 1
        successes = 0
        limit = Swift.max(1, limit / 2)
    }
}
