import Editing
import Edits
import JobQueue
import Library
import Synchronization
import Worker

/// A handler that waits instead of rendering, and records the start of each job.
struct FleetHandler: JobHandler {
    let starts: JobStarts

    func make(
        _ claim: Claim, _ hold: HeldJob, _ desk: JobDesk
    ) async throws -> MadeJob {
        starts.note(claim.job)
        if starts.simulatesWork { try await Task.sleep(for: starts.work) }
        return .version(.init(ofNothing: claim), isDraft: false)
    }

    func publish(_ version: CommittedVersion) async throws(Failure) -> Publication { .published }
    func discard(_ hold: Hold) async throws(Failure) {}
    func sweep(_ hold: Hold) async throws(Failure) -> Bool { true }
    func reach() async throws(Failure) {}
    func staged() async throws(Failure) -> [Hold] { [] }
}

/// The starts of jobs, for all workers of the process.
final class JobStarts: Sendable {
    /// The duration of a job while ``simulatesWork`` is true.
    let work: Duration
    private struct State {
        var count = 0
        var simulatesWork = false
        var started: [String: ContinuousClock.Instant] = [:]
        var waiting: [String: CheckedContinuation<ContinuousClock.Instant, Never>] = [:]
    }
    private let state = Mutex(State())

    init(work: Duration) { self.work = work }

    /// The number of jobs that have started.
    var count: Int { state.withLock { $0.count } }
    /// Whether jobs last for ``work``.
    var simulatesWork: Bool {
        get { state.withLock { $0.simulatesWork } }
        set { state.withLock { $0.simulatesWork = newValue } }
    }

    /// Records that a job starts now.
    func note(_ job: String) {
        let now = ContinuousClock.now
        let waiter = state.withLock { state in
            state.count += 1
            let waiter = state.waiting.removeValue(forKey: job)
            if waiter == nil, !state.simulatesWork { state.started[job] = now }
            return waiter
        }
        waiter?.resume(returning: now)
    }

    /// Waits for the start of a job; each start is returned once.
    func start(of job: String) async -> ContinuousClock.Instant {
        await withCheckedContinuation { continuation in
            let started = state.withLock { state in
                let started = state.started.removeValue(forKey: job)
                if started == nil { state.waiting[job] = continuation }
                return started
            }
            if let started { continuation.resume(returning: started) }
        }
    }
}
