import DequeModule
import Synchronization

/// Lets as many photos be rendered at one time as a worker has slots; the others wait in the order in which they came.
///
/// A worker holds more jobs than that while files of some travel (``ClaimAhead``).
final class RenderSlots: Sendable {
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

    /// Slots' worth of cores for each photo that is rendered now: all for one that is alone, one when all slots are taken.
    var share: Int {
        let busy = state.withLock { count - $0.free }
        return min(max(1, count / max(1, busy)), Self.shareMax)
    }
    /// Most cores of one photo: a chain has four parts at most, beside reading and writing, and each thread takes 4 to 9 MB.
    static let shareMax = 8

    /// Waits for a slot and has it while the body runs. A body must not ask for another one.
    ///
    /// - Throws: what the body throws; `CancellationError` when the task is cancelled while it waits.
    func use<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await take()
        defer { giveBack() }
        return try await body()
    }

    /// Gives the caller's slot away while the body waits for something, and has it again after.
    ///
    /// - Throws: what the body throws; `CancellationError` when the task is cancelled while it waits for a slot again.
    func lend<Result>(_ body: () async throws -> Result) async throws -> Result {
        giveBack()
        do {
            let result = try await body()
            try await take()
            return result
        } catch {
            // The caller ends, and gives back what it is thought to have.
            state.withLock { $0.free -= 1 }
            throw error
        }
    }

    /// How many wait, for tests.
    var waiting: Int { state.withLock { $0.waiters.count } }

    private func take() async throws {
        let id = state.withLock { state in
            state.ids += 1
            return state.ids
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    // The handler may have run before there was somebody to tell.
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

    private func giveBack() {
        state.withLock { state in
            state.free += 1
            guard state.free > 0, let waiter = state.waiters.popFirst() else { return }
            state.free -= 1
            waiter.continuation.resume()
        }
    }
}
