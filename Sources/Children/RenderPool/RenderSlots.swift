import DequeModule
import Synchronization
import Telemetry
import Tracing

/// Limits the photos that render at the same time to the worker's slots. Other photos wait in the order of their
/// arrival.
///
/// A worker holds more jobs than slots while files of some are in transfer.
package final class RenderSlots: Sendable {
    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var free: Int
        var ids = 0
        var waiters: Deque<Waiter> = []
    }

    private let count: Int
    private let state: Mutex<State>

    init(_ count: Int) {
        self.count = count
        state = Mutex(State(free: count))
    }

    /// The number of threads for each photo that renders now: as many as there are slots for a single photo, one
    /// when no slot is free.
    package var share: Int {
        let busy = state.withLock { count - $0.free }
        return min(max(1, count / max(1, busy)), Self.shareMax)
    }
    /// The most cores of one photo. A chain has at most four parts, beside reading and writing, and each thread
    /// takes 4 to 9 MB.
    static let shareMax = 8

    /// Waits for a slot and holds it while the body runs. The body must not acquire another slot.
    ///
    /// - Throws: the error of the body; `CancellationError` if the task is cancelled while it waits.
    package func use<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await inSpan("wait for slot") { _ in try await acquire() }
        defer { release() }
        return try await body()
    }

    /// Releases the caller's slot while the body waits for something, and acquires a slot again afterwards.
    ///
    /// - Throws: the error of the body; `CancellationError` if the task is cancelled while it waits for a slot
    ///   again.
    package func lend<Result>(_ body: () async throws -> Result) async throws -> Result {
        release()
        do {
            let result = try await body()
            try await acquire()
            return result
        } catch {
            // The caller fails next and releases a slot, which it does not hold. This corrects the count.
            state.withLock { $0.free -= 1 }
            throw error
        }
    }

    /// The number of waiting callers, for tests.
    var waiting: Int { state.withLock { $0.waiters.count } }

    private func acquire() async throws {
        let id = state.withLock { state in
            state.ids += 1
            return state.ids
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    // The cancellation handler may have run before this waiter was registered.
                    if Task.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else if state.free > 0 {
                        state.free -= 1
                        continuation.resume()
                    } else {
                        state.waiters.append(Waiter(id: id, continuation: continuation))
                    }
                }
            }
        } onCancel: {
            state.withLock { state in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return }
                state.waiters.remove(at: index).continuation.resume(throwing: CancellationError())
            }
        }
    }

    private func release() {
        state.withLock { state in
            state.free += 1
            guard state.free > 0, let waiter = state.waiters.popFirst() else { return }
            state.free -= 1
            waiter.continuation.resume()
        }
    }
}
