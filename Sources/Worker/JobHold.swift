public import JobQueue
import Synchronization

/// Whether a job is still ours, and the way to stop what it is doing.
///
/// The heartbeat says `end(.lost)` when the lease is gone and `end(.cancelled)` when nobody wants the job any
/// more, the worker says `stop` when it shuts down. All cancel what runs inside ``whileHeld(_:)``; only a lost
/// job must not be written to any more.
public final class JobHold: Sendable {
    private struct State {
        var isLost = false
        var isCancelled = false
        var isStopping = false
        var stage: Stage?
        var progress: JobProgress?
        var stageSince = ContinuousClock.now
        var times = StageTimes()
        var cancel: (@Sendable () -> Void)?

        var timesNow: StageTimes {
            var times = times
            if let stage { times.add(.now - stageSince, in: stage) }
            return times
        }
    }

    private let state = Mutex(State())

    /// The hold that the present task works for, if any.
    @TaskLocal package static var current: JobHold?

    /// The job's batch, or nil.
    public let batch: String?

    /// How far a job is: for people, and for the history when its worker dies.
    public enum Stage: String, Sendable {
        /// The edit is decided, and the photo is brought to this machine.
        case fetching
        /// The photo waits for a slot, or its render for memory.
        case waiting
        /// The photo is read and its pixels are made.
        case rendering
        /// The version is brought to the library and put in its place.
        case publishing
    }

    /// A fresh hold.
    public init(batch: String? = nil) { self.batch = batch }

    /// How far the job is.
    public var stage: Stage? { state.withLock { $0.stage } }

    /// How much of its movie is rendered; nil for a photo.
    public var progress: JobProgress? { state.withLock { $0.progress } }

    /// Says how much of its movie is rendered.
    public func reach(_ progress: JobProgress) { state.withLock { $0.progress = progress } }

    /// Says how far the job is.
    public func reach(_ stage: Stage) {
        state.withLock { state in
            state.times = state.timesNow
            (state.stage, state.stageSince) = (stage, .now)
        }
    }

    /// How long it has been in its stages.
    var times: StageTimes { state.withLock { $0.timesNow } }

    /// Whether somebody else has the job now.
    public var isLost: Bool { state.withLock { $0.isLost } }

    /// Whether nobody wants the job any more.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether the worker wants the job back in the queue.
    public var isStopping: Bool { state.withLock { $0.isStopping } }

    /// The lease is gone, or the job is not wanted any more.
    public func end(_ end: HoldEnd) {
        switch end {
        case .lost: cancel { $0.isLost = true }
        case .cancelled: cancel { $0.isCancelled = true }
        }
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
    package func whileHeld<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Self.$current.withValue(self) { Task { try await work() } }
        let isOver = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isLost || state.isCancelled || state.isStopping
        }
        if isOver { task.cancel() }
        defer { state.withLock { $0.cancel = nil } }
        return try await task.value
    }
}
