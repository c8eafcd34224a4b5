import Edits
import JobQueue

/// The first jobs of a replay, which is continued with the others only if few of these fail again.
package struct ReplayTrial: Sendable, Codable, Equatable {
    /// A job, and the generation in which it was dead.
    package struct Job: Sendable, Codable, Equatable {
        package let job: String
        package let generation: Int
    }

    /// The maximum number of jobs.
    package let first: Int
    /// The share of the jobs that holds the replay if it fails, in percent.
    package let stopAtPercent: Int
    /// The jobs; nil until they are chosen.
    ///
    /// They are recorded before the first of them is replayed, so that another gateway, which continues after a crash, tries the same
    /// jobs. The generations show it which of them are replayed already.
    package internal(set) var jobs: [Job]?
    /// The number of jobs that succeeded.
    package internal(set) var succeeded = 0
    /// The number of jobs that died again, or whose version could not be published.
    package internal(set) var failed = 0

    /// The maximum of ``first``: the record of an order stays small.
    package static let firstMax = 200
    package static let stopAtPercentDefault = 10

    /// - Parameters:
    ///   - first: At least 1, at most ``firstMax``.
    ///   - stopAtPercent: 1 to 100; nil for ``stopAtPercentDefault``.
    package init(first: Int, stopAtPercent: Int? = nil) {
        self.first = first
        self.stopAtPercent = stopAtPercent ?? Self.stopAtPercentDefault
    }

    /// Whether so many jobs failed that the others must wait.
    package var isFailed: Bool {
        failed > 0 && failed * 100 >= stopAtPercent * (jobs?.count ?? first)
    }

    /// The result so far: `3 of the first 20 jobs failed again, 12 succeeded`.
    package var text: String {
        "\(failed) of the first \(counted(jobs?.count ?? first, "job")) failed again, \(succeeded) succeeded"
    }
}

/// Where a job of a trial is.
private enum Standing {
    case notReplayed(JobRecord)
    case waiting
    case succeeded
    case failed
    /// It was cancelled or removed: it says nothing about the others.
    case gone

    init(_ job: ReplayTrial.Job, _ record: JobRecord?) {
        guard let record, record.generation >= job.generation else {
            self = .gone
            return
        }
        if record.generation == job.generation {
            self = record.state == .dead ? .notReplayed(record) : .gone
            return
        }
        switch record.state {
        case .done: self = record.outcome == "cancelled" ? .gone : .succeeded
        case .dead, .stuck: self = .failed
        case .dropped, .unknown: self = .gone
        case .incoming, .lane, .ready, .delayed, .parked, .active, .committing: self = .waiting
        }
    }
}

extension ReplayRunner {
    /// Replays the first jobs of an order, waits until they have ended, and lets the order go on or holds it.
    ///
    /// It is repeated from the start after a crash: the record names the jobs, and their generations tell what has happened to them.
    ///
    /// - Returns: whether the order goes on.
    func haveFirstSucceeded(of order: ReplayOrder, _ replay: Replaying) async throws -> Bool {
        guard var trial = order.trial else {
            throw Failure(.invalidValue, "replay \(order.id) does not say which jobs to try first.")
        }
        if trial.jobs == nil {
            trial.jobs = try await firstJobs(of: order, atMost: trial.first)
            let chosen = try await change(order.id, in: [.trying]) { $0.trial = trial }
            guard chosen != nil else { return false }
        }
        // A runner that continues another's trial counts anew: it looks at all jobs.
        (trial.succeeded, trial.failed) = (0, 0)
        var pending = trial.jobs ?? []
        while true {
            var (left, lines) = ([ReplayTrial.Job](), [ReplayLine]())
            for job in pending {
                switch Standing(job, try await queue.record(of: job.job)) {
                case .notReplayed(let record):
                    let answers = try await replay.start([record], on: queue)
                    lines += answers
                    if answers.first?.answer == .replayed { left.append(job) }
                case .waiting: left.append(job)
                case .succeeded: trial.succeeded += 1
                case .failed: trial.failed += 1
                case .gone: break
                }
                // With a slow rate, the first jobs take longer than the lease lasts.
                guard lines.count >= 1, replay.rate != nil else { continue }
                let noted = try await change(order.id, in: [.trying]) { $0.count(lines) }
                guard noted != nil else { return false }
                lines = []
            }
            pending = left
            let isOver = pending.isEmpty
            let after = try await change(order.id, in: [.trying, .running, .held]) { order in
                order.count(lines)
                order.trial = trial
                if trial.isFailed {
                    order.state = .held
                    order.message =
                        trial.text
                        + ", and \(trial.stopAtPercent) % was the limit: the others stay dead until the replay is continued."
                } else if isOver {
                    order.state = .running
                }
            }
            guard let after, after.state != .held else { return false }
            if after.state == .running { return true }
            try await Task.sleep(for: Self.pollInterval)
        }
    }

    /// Returns the jobs that the order would replay first.
    private func firstJobs(
        of order: ReplayOrder, atMost count: Int
    ) async throws -> [ReplayTrial.Job] {
        var jobs: [ReplayTrial.Job] = []
        var dead = try await DeadReader(queue, order.filter())
        while jobs.count < count, let page = try await dead.next() {
            jobs += page.prefix(count - jobs.count).map {
                ReplayTrial.Job(job: $0.job, generation: $0.generation)
            }
        }
        return jobs
    }
}
