import DequeModule
import Synchronization

/// Limits the concurrent requests to the number of ``AdaptiveConcurrency``. Other requests wait
/// in their order.
final class ConcurrencyGate: Sendable {
    /// The most waiting callers.
    static let waitersMax = 10_000

    private struct Waiter {
        let id: UInt64
        let continuation: CheckedContinuation<Entry, Never>
    }

    private enum Entry {
        case entered(generation: Int)
        case crowded
        case cancelled
    }

    private struct State {
        var concurrency: AdaptiveConcurrency
        var running = 0
        var nextID: UInt64 = 0
        var waiters: Deque<Waiter> = []

        /// Removes and returns the waiters that may run now.
        mutating func granted() -> [Waiter] {
            var granted: [Waiter] = []
            while running < concurrency.limit, let waiter = waiters.popFirst() {
                running += 1
                granted.append(waiter)
            }
            return granted
        }
    }

    private let state: Mutex<State>

    init(max: Int) {
        state = Mutex(State(concurrency: AdaptiveConcurrency(max: max)))
    }

    /// The number of requests that may run now.
    var limit: Int { state.withLock { $0.concurrency.limit } }

    /// The number of waiting callers.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Waits for a permit and returns its generation. Call ``leave()`` to release the permit.
    ///
    /// Throws if the task is cancelled, or if there are too many waiters.
    func enter() async throws(BlobError) -> Int {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let entry = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(id: id, continuation: continuation)
                let isCrowded = state.withLock { state in
                    guard state.waiters.count < Self.waitersMax else { return true }
                    state.waiters.append(waiter)
                    return false
                }
                if isCrowded { continuation.resume(returning: .crowded) }
                grantPermits()
                // The cancellation handler below may have run before the waiter was registered.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
        switch entry {
        case .entered(let generation): return generation
        case .cancelled: throw BlobError(.cancelled, "The request to the store was cancelled.")
        case .crowded:
            throw BlobError(
                .throttled,
                "\(Self.waitersMax) requests wait for the store already: claim fewer jobs at a "
                    + "time, or add workers.")
        }
    }

    /// Releases a permit.
    func leave() {
        state.withLock { $0.running -= 1 }
        grantPermits()
    }

    func succeeded() {
        state.withLock { $0.concurrency.succeeded() }
        grantPermits()
    }

    func slowDown(in generation: Int) {
        state.withLock { $0.concurrency.slowDown(in: generation) }
    }

    private func grantPermits() {
        let (granted, generation) = state.withLock { ($0.granted(), $0.concurrency.generation) }
        for waiter in granted {
            waiter.continuation.resume(returning: .entered(generation: generation))
        }
    }

    private func cancel(_ id: UInt64) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: .cancelled)
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

    /// Records a successful request.
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
