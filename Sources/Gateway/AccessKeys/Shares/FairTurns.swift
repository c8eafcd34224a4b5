import Synchronization

/// Turns at a pool that tenants share. A caller whose tenant has its share already waits in its tenant's own queue, and a free place
/// goes to the waiting tenants in rotation.
package final class FairTurns: Sendable {
    /// The error of a caller that may not even wait: too many wait, of all tenants or of its own.
    package struct Full: Error {}

    private enum Outcome { case turn, full, cancelled }

    private struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        var places: FairShare
        var waiting: FairShare
        var queues: [FairShare.Owner: [Waiter]] = [:]
        /// The owners with waiting callers, the next one first.
        var rotation: [FairShare.Owner] = []
        var last = 0
        var refused = 0
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - places: The turns at a time.
    ///   - waiting: The callers that wait for a turn.
    package init(_ places: FairShare.Limits, waiting: FairShare.Limits) {
        state = Mutex(State(places: FairShare(places), waiting: FairShare(waiting)))
    }

    /// The number of callers that wait.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }
    /// The number of callers that were refused with ``Full``.
    package var refusedCount: Int { state.withLock { $0.refused } }

    /// Runs `body` during a turn.
    ///
    /// - Throws: ``Full``; `CancellationError` if the task is cancelled while it waits; the error of `body`.
    package func withTurn<Result>(
        of owner: FairShare.Owner, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await enter(owner)
        defer { leave(owner) }
        return try await body()
    }

    /// Takes a turn, after a wait if necessary. The caller ends it with ``leave(_:)``.
    ///
    /// - Throws: ``Full``; `CancellationError` if the task is cancelled while it waits. Then no turn is taken.
    package func enter(_ owner: FairShare.Owner) async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Outcome? in
                    // If the task is cancelled from here on, `onCancel` waits for the lock.
                    if Task.isCancelled { return .cancelled }
                    if state.queues[owner] == nil, state.places.take(owner) { return .turn }
                    guard state.waiting.take(owner) else {
                        state.refused += 1
                        return .full
                    }
                    if state.queues[owner] == nil { state.rotation.append(owner) }
                    state.queues[owner, default: []].append(
                        Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            state.withLock { Self.withdraw(number, of: owner, &$0) }?
                .resume(returning: .cancelled)
        }
        switch outcome {
        case .turn: return
        case .full: throw Full()
        case .cancelled: throw CancellationError()
        }
    }

    /// Ends a turn. The free place goes to a waiting caller.
    package func leave(_ owner: FairShare.Owner) {
        let next = state.withLock { state in
            state.places.giveBack(owner)
            return Self.admit(&state)
        }
        for continuation in next { continuation.resume(returning: .turn) }
    }

    /// Gives free places to waiting callers; more than one may fit, because the share of each grows with the free places.
    private static func admit(_ state: inout State) -> [CheckedContinuation<Outcome, Never>] {
        var admitted: [CheckedContinuation<Outcome, Never>] = []
        while let index = state.rotation.firstIndex(where: { state.places.hasRoom(for: $0) }) {
            let owner = state.rotation.remove(at: index)
            guard state.places.take(owner), var queue = state.queues[owner] else { break }
            admitted.append(queue.removeFirst().continuation)
            state.waiting.giveBack(owner)
            state.queues[owner] = queue.isEmpty ? nil : queue
            if !queue.isEmpty { state.rotation.append(owner) }
        }
        return admitted
    }

    private static func withdraw(
        _ number: Int, of owner: FairShare.Owner, _ state: inout State
    ) -> CheckedContinuation<Outcome, Never>? {
        guard var queue = state.queues[owner],
            let index = queue.firstIndex(where: { $0.number == number })
        else { return nil }
        let waiter = queue.remove(at: index)
        state.waiting.giveBack(owner)
        state.queues[owner] = queue.isEmpty ? nil : queue
        if queue.isEmpty { state.rotation.removeAll { $0 == owner } }
        return waiter.continuation
    }
}
