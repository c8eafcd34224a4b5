package import Editing
public import JobQueue
import Synchronization

/// Records whether a worker still holds a job, and cancels the job's work.
///
/// The heartbeat calls `end(.lost)` when the lease is gone and `end(.cancelled)` when the job was cancelled. The
/// worker calls `stop` when it shuts down. Each of them cancels the work inside ``whileHeld(_:)``. Only after
/// `end(.lost)` must nothing be written to the job any more.
public final class HeldJob: Sendable {
    private struct State {
        var isLost = false
        var isCancelled = false
        var isStopping = false
        var stage: EditStage?
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
    private let began = ContinuousClock.now

    /// How long the worker has had the job.
    var age: Duration { .now - began }

    /// The job's batch, or nil.
    public let batch: String?

    public init(batch: String? = nil) { self.batch = batch }

    package var stage: EditStage? { state.withLock { $0.stage } }

    /// The rendered share of the job's movie; nil for a photo.
    public var progress: JobProgress? { state.withLock { $0.progress } }

    /// Records the rendered share of the job's movie.
    package func reach(_ progress: MovieProgress) {
        let progress = JobProgress(progress)
        state.withLock { $0.progress = progress }
    }

    package func reach(_ stage: EditStage) {
        state.withLock { state in
            state.times = state.timesNow
            (state.stage, state.stageSince) = (stage, .now)
        }
    }

    /// The time spent in each stage so far.
    var times: StageTimes { state.withLock { $0.timesNow } }

    /// Whether another worker may hold the job now.
    public var isLost: Bool { state.withLock { $0.isLost } }

    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether the worker is shutting down and will return the job to the queue.
    public var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Ends the hold: the lease is lost, or the job was cancelled.
    public func end(_ end: Hold.End) {
        switch end {
        case .lost: cancel { $0.isLost = true }
        case .cancelled: cancel { $0.isCancelled = true }
        }
    }

    /// Stops the work because the worker shuts down.
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

    /// Runs work and cancels it when the hold ends.
    package func whileHeld<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task { try await work() }
        let isOver = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isLost || state.isCancelled || state.isStopping
        }
        if isOver { task.cancel() }
        defer { state.withLock { $0.cancel = nil } }
        return try await task.value
    }
}

/// The time that a job has spent in its stages, without waiting.
struct StageTimes: Sendable, Equatable {
    var fetching: Duration = .zero
    var rendering: Duration = .zero
    var publishing: Duration = .zero

    mutating func add(_ time: Duration, in stage: EditStage) {
        switch stage {
        case .fetching: fetching += time
        case .waiting: break
        case .rendering: rendering += time
        case .publishing: publishing += time
        }
    }
}
