import Adjustments
import JobQueue
import Synchronization

/// The jobs of one manifest on their way through a queue.
struct Run {
    private(set) var completed: [JobEvent.Completed] = []
    private(set) var failed: [JobEvent.Failed] = []
    private var open: Set<String> = []
    private var progress: Progress
    private var events: EventReader
    /// Rows are shown in the manifest's order.
    private let order: [String: Int]

    /// Enqueues the jobs that the queue does not know, and those that died in an earlier run again.
    ///
    /// One after the other, in the manifest's order: that is the order of an asset's edits.
    static func start(
        _ manifest: Manifest, queue: JobQueue, events: EventReader
    ) async throws -> Run {
        var completed: [JobEvent.Completed] = []
        var open: Set<String> = []
        for job in manifest.jobs {
            if let result = try await submit(job, to: queue) {
                completed.append(result)
            } else {
                open.insert(job.id.string)
            }
        }
        return Run(
            completed: completed, open: open,
            progress: Progress(total: manifest.jobs.count, done: completed.count), events: events,
            order: Dictionary(
                uniqueKeysWithValues: manifest.jobs.enumerated().map { ($1.id.string, $0) }))
    }

    private init(
        completed: [JobEvent.Completed], open: Set<String>, progress: Progress,
        events: EventReader, order: [String: Int]
    ) {
        self.completed = completed
        self.open = open
        self.progress = progress
        self.events = events
        self.order = order
    }

    /// - Returns: what an earlier run made of the job, or nil when it is still to be done.
    private static func submit(
        _ job: Manifest.Job, to queue: JobQueue
    ) async throws -> JobEvent.Completed? {
        switch try await queue.record(of: job.id.string)?.state {
        case "done": return try await queue.result(of: job.id.string)
        case "dead": _ = try await queue.replay([job.id.string])
        case nil:
            _ = try await queue.enqueue(
                JobRequest(id: job.id, asset: job.request.asset, recipe: job.request.recipe))
        default: break
        }
        return nil
    }

    /// Counts the ends of jobs until all have ended.
    ///
    /// - Returns: false when it was stopped before.
    mutating func follow(until stopped: StopSign) async throws -> Bool {
        progress.tell()
        while !open.isEmpty {
            if stopped.isUp { return false }
            for entry in try await events.next(waiting: .seconds(1)) {
                switch entry.event.data {
                case .completed(let job) where open.remove(job.job) != nil:
                    completed.append(job)
                    progress.count(failed: false)
                case .failed(let job) where open.remove(job.job) != nil:
                    failed.append(job)
                    progress.count(failed: true)
                default: break
                }
            }
        }
        let order = order
        completed.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        failed.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        return true
    }
}

/// Says that the worker has ended; raised from any thread.
final class StopSign: Sendable {
    private let sign = Mutex(false)
    var isUp: Bool { sign.withLock { $0 } }
    func raise() { sign.withLock { $0 = true } }
}
