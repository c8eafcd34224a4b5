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
