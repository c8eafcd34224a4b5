import Adjustments
import JobQueue
import Synchronization

/// The jobs of one manifest and their results so far.
struct Run {
    /// Jobs that published a version or saved a draft.
    private(set) var completed: [JobEvent.Completed] = []
    private(set) var unchanged: [JobEvent.Unchanged] = []
    private(set) var failed: [JobEvent.Failed] = []
    /// Jobs that started after a newer edit was published.
    private(set) var superseded: [JobEvent.Superseded] = []
    /// Jobs that a newer edit of the manifest replaced, or that were cancelled.
    private(set) var cancelled: [JobEvent.Cancelled] = []
    private var open: Set<String> = []
    private var progress: Progress
    private var events: EventReader
    /// The positions in the manifest, by which rows are sorted.
    private let order: [String: Int]

    /// Enqueues the jobs that are new to the queue, and replays those that died in an earlier run.
    ///
    /// The jobs are sent one at a time in the manifest's order, which is the order of an asset's edits.
    static func start(
        _ manifest: Manifest, queue: JobQueue, events: EventReader
    ) async throws -> Run {
        var run = Run(manifest, events)
        for job in manifest.jobs {
            if let outcome = try await submit(job, to: queue) {
                run.record(outcome)
            } else {
                run.open.insert(job.id.string)
            }
        }
        run.progress = Progress(
            total: manifest.jobs.count,
            done: run.completed.count + run.unchanged.count + run.superseded.count
                + run.cancelled.count)
        return run
    }

    private init(_ manifest: Manifest, _ events: EventReader) {
        self.events = events
        progress = Progress(total: manifest.jobs.count, done: 0)
        order = Dictionary(
            uniqueKeysWithValues: manifest.jobs.enumerated().map { ($1.id.string, $0) })
    }

    private mutating func record(_ outcome: JobOutcome) {
        switch outcome {
        case .completed(let job), .drafted(let job): completed.append(job)
        case .unchanged(let job): unchanged.append(job)
        case .superseded(let job): superseded.append(job)
        case .cancelled(let job): cancelled.append(job)
        }
    }

    /// - Returns: the job's result in an earlier run; nil if the job is still to be done.
    private static func submit(
        _ job: Manifest.Job, to queue: JobQueue
    ) async throws -> JobOutcome? {
        switch try await queue.record(of: job.id.string)?.state {
        case .done: return try await queue.outcome(of: job.id.string)
        case .dead, .stuck: _ = try await queue.replay([job.id.string])
        case nil:
            _ = try await queue.enqueue(
                JobRequest(
                    id: job.id, asset: job.request.asset, edit: job.request.edit,
                    scheduling: job.request.scheduling))
        default: break
        }
        return nil
    }

    /// Counts the jobs that end until all have ended.
    ///
    /// - Returns: false if it was stopped earlier.
    mutating func follow(until stopped: StopSign) async throws -> Bool {
        progress.report()
        while !open.isEmpty {
            if stopped.isUp { return false }
            for entry in try await events.next(waiting: .seconds(1)) {
                switch entry.event.data {
                case .completed(let job) where open.remove(job.job) != nil,
                    .drafted(let job) where open.remove(job.job) != nil:
                    completed.append(job)
                    progress.count(failed: false)
                case .unchanged(let job) where open.remove(job.job) != nil:
                    unchanged.append(job)
                    progress.count(failed: false)
                case .superseded(let job) where open.remove(job.job) != nil:
                    superseded.append(job)
                    progress.count(failed: false)
                case .failed(let job) where open.remove(job.job) != nil:
                    failed.append(job)
                    progress.count(failed: true)
                case .stuck(let job) where open.remove(job.job) != nil:
                    // No other worker uses this queue. The next run tries again to publish the version.
                    failed.append(
                        JobEvent.Failed(
                            job: job.job, asset: job.asset, generation: job.generation,
                            attempt: job.carries + 1, worker: job.worker, error: job.error))
                    progress.count(failed: true)
                case .cancelled(let job) where open.remove(job.job) != nil:
                    cancelled.append(job)
                    progress.count(failed: false)
                default: break
                }
            }
        }
        let order = order
        completed.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        unchanged.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        superseded.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        cancelled.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        failed.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        return true
    }
}

/// A flag that the worker has stopped; it may be set from any thread.
final class StopSign: Sendable {
    private let sign = Mutex(false)
    var isUp: Bool { sign.withLock { $0 } }
    func raise() { sign.withLock { $0 = true } }
}
