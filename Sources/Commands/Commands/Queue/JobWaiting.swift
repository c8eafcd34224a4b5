import ArgumentParser
import Edits
import JobQueue
import Operations
import Telemetry

/// Sends single jobs, and waits for their ends if that is wanted.
struct JobWaiting: Sendable {
    let isWaited: Bool
    let json: Bool

    static let help: String =
        "Wait until the jobs have ended and print what became of them; end with 1 if one died, is stuck or was cancelled."

    /// The interval at which a waiting command asks; each time costs one script.
    private static let interval: Duration = .milliseconds(200)

    /// Sends jobs and prints their ids, or what became of them.
    ///
    /// - Throws: exit code 1 if a job that was waited for did not succeed.
    func send(_ requests: [JobRequest], to queue: JobQueue) async throws {
        var jobs: [String] = []
        for request in requests {
            let entry = try await queue.enqueue(request)
            let job = request.id?.string ?? entry
            jobs.append(job)
            // A waiting command names its jobs at once, too, so that they can be found if it is stopped.
            if isWaited {
                StandardError.write("sent job \(job) for \(request.asset)")
            } else if json {
                try printJSON(["job": job, "entry": entry], pretty: requests.count == 1)
            } else {
                print(job)
            }
            fflushStandardOutput()
        }
        guard isWaited else { return }
        var haveSucceeded = true
        for job in jobs {
            let facts = try await end(of: job, on: queue)
            haveSucceeded = haveSucceeded && facts.hasSucceeded
            if json {
                try printJSON(ExplainedJob(facts), pretty: false)
            } else {
                print(jobs.count == 1 ? facts.sentence : "\(job): \(facts.sentence)")
            }
            fflushStandardOutput()
        }
        guard haveSucceeded else { throw ExitCode(1) }
    }

    /// Waits until a job has ended, is stuck, or is unknown because its entry was dropped unread.
    private func end(of job: String, on queue: JobQueue) async throws -> JobFacts {
        while true {
            let facts = try await queue.facts(of: job)
            if facts.hasEnded { return facts }
            try await Task.sleep(for: Self.interval)
        }
    }
}

extension JobFacts {
    /// Whether nothing more happens to the job by itself.
    fileprivate var hasEnded: Bool {
        switch state {
        case .done, .dead, .stuck, .dropped, .unknown: true
        case .incoming, .lane, .ready, .delayed, .parked, .active, .committing: false
        }
    }

    fileprivate var hasSucceeded: Bool {
        if case .cancelled = reason { return false }
        return (state == .done || state == .dropped) && !hasFailed
    }
}

/// The first dead jobs of a batch, with their reasons, for a person who waited for it.
struct BatchDeaths: Sendable {
    private let batch: BatchID
    private let dead: Int
    private let first: [JobRecord]

    /// The most jobs that are named; the rest are counted.
    private static let namedMax = 20

    init(of record: BatchRecord, on queue: JobQueue) async throws {
        (batch, dead) = (try BatchID(record.batch), record.dead)
        var found: [JobRecord] = []
        if dead > 0 {
            var filter = DeadFilter(.everything)
            filter.batch = batch
            var reader = try await DeadReader(queue, filter)
            while found.count < Self.namedMax, let page = try await reader.next() { found += page }
        }
        first = Array(found.prefix(Self.namedMax))
    }

    /// Names the jobs on standard error.
    func write() {
        for job in first {
            StandardError.write(
                "dead: job \(job.job), \(job.asset), \(job.code?.rawValue ?? "?"): \(job.message ?? "")"
            )
        }
        guard dead > first.count else { return }
        StandardError.write(
            "\(counted(dead - first.count, "more dead job")); minilab dead --batch \(batch) lists what Redis has of them, and names "
                + "the places to which workers moved others")
    }
}
