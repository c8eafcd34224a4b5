import Synchronization

/// Whether a job is still ours, and the way to stop what it is doing.
///
/// The heartbeat says `lose` when the lease is gone, the worker says `stop` when it shuts down. Both
/// cancel what runs inside ``whileHeld(_:)``; only a lost job must not be written to any more.
public final class JobHold: Sendable {
    private struct State {
        var isLost = false
        var isStopping = false
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// A fresh hold.
    public init() {}

    /// Whether somebody else has the job now.
    public var isLost: Bool { state.withLock { $0.isLost } }

    /// Whether the worker wants the job back in the queue.
    public var isStopping: Bool { state.withLock { $0.isStopping } }

    /// The lease is gone.
    public func lose() {
        cancel { $0.isLost = true }
    }

    /// The worker shuts down.
    public func stop() {
        cancel { $0.isStopping = true }
    }

    private func cancel(_ mark: (inout State) -> Void) {
        let cancel = state.withLock { state in
            mark(&state)
            return state.cancel
        }
        cancel?()
    }

    /// Runs work that is cancelled when the hold ends.
    func whileHeld<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task { try await work() }
        let isOver = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isLost || state.isStopping
        }
        if isOver { task.cancel() }
        defer { state.withLock { $0.cancel = nil } }
        return try await task.value
    }
}
