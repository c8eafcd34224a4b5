import Adjustments
import JobQueue

/// Starts dead jobs again in chunks, as fast as is allowed.
struct Replaying {
    /// Jobs a second, or nil for no limit.
    let rate: Int?
    let edit: Edit?
    let isDryRun: Bool

    /// - Parameter jobs: at most ``JobQueue/replayMax``.
    func start(_ jobs: [JobRecord], on queue: JobQueue) async throws -> [ReplayLine] {
        var lines: [ReplayLine] = []
        let chunk = min(rate ?? JobQueue.replayMax, JobQueue.replayMax)
        for start in stride(from: 0, to: jobs.count, by: chunk) {
            let some = jobs[start..<min(start + chunk, jobs.count)]
            var answers: [JobQueue.Replay?] = Array(repeating: nil, count: some.count)
            if !isDryRun {
                answers = try await queue.replay(some.map(\.job), with: edit)
                if let rate { try await Task.sleep(for: .seconds(1) * some.count / rate) }
            }
            for (record, answer) in zip(some, answers) {
                lines.append(
                    ReplayLine(
                        job: record.job, asset: record.asset, code: record.code, answer: answer))
            }
        }
        return lines
    }

    /// The same for a job that was moved to a file.
    func restore(_ job: SpilledJob, on queue: JobQueue) async throws -> ReplayLine {
        let answer = isDryRun ? nil : try await queue.restore(job)
        if let rate, !isDryRun { try await Task.sleep(for: .seconds(1) / rate) }
        return ReplayLine(
            job: job.job, asset: job.asset, code: job.code.flatMap(FailureCode.init),
            answer: answer)
    }

    /// The same for jobs that somebody named; there may be no such.
    func start(named ids: [String], on queue: JobQueue) async throws -> [ReplayLine] {
        var lines: [ReplayLine] = []
        for id in ids {
            if let record = try await queue.record(of: id) {
                let isDead = record.state == .dead || record.state == .stuck && edit == nil
                lines +=
                    isDead || !isDryRun
                    ? try await start([record], on: queue)
                    : [ReplayLine(job: id, asset: record.asset, code: nil, answer: .notDead)]
            } else {
                lines.append(ReplayLine(job: id, asset: nil, code: nil, answer: .unknown))
            }
        }
        return lines
    }
}

/// What became of one job.
struct ReplayLine: Encodable {
    let job: String
    let asset: String?
    /// What it had died of.
    let code: FailureCode?
    /// nil when nothing was tried.
    let answer: JobQueue.Replay?

    private enum Key: CodingKey { case job, asset, code, answer }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(job, forKey: .job)
        try fields.encodeIfPresent(asset, forKey: .asset)
        try fields.encodeIfPresent(code, forKey: .code)
        try fields.encode(answer.map { "\($0)" } ?? "wouldBeReplayed", forKey: .answer)
    }

    /// What it means, for people.
    var words: String {
        switch answer {
        case nil: "would be started again" + (code.map { " (\($0.rawValue))" } ?? "")
        case .replayed: "replayed"
        case .unknown: "there is no such job (any more)"
        case .notDead: "is not dead; minilab explain \(job) says what it does"
        case .stuck:
            "is stuck, so it cannot get another edit; cancel it and send the edit as a new job"
        case .later: "has a record of a later format; use a newer minilab"
        case .malformed: "is malformed: there is nothing to run; have it sent again"
        }
    }
}

/// How many jobs became what.
struct ReplayCounts {
    private(set) var replayed = 0
    private(set) var refused = 0
    private(set) var codes: [String: Int] = [:]

    mutating func count(_ line: ReplayLine) {
        switch line.answer {
        case nil, .replayed:
            replayed += 1
            codes[line.code?.rawValue ?? "unknown", default: 0] += 1
        case .unknown, .notDead, .malformed, .stuck, .later: refused += 1
        }
    }

    func text(isDryRun: Bool) -> String {
        let by = codes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return counted(replayed, "job") + (isDryRun ? " would be replayed" : " replayed")
            + (by.isEmpty ? "" : " (\(by))")
            + (refused > 0 ? "; \(refused) cannot be" : "")
    }
}
