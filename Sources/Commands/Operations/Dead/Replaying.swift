package import Edits
package import JobQueue

/// Replays dead jobs in chunks, within a rate limit.
package struct Replaying: Sendable {
    package let rate: Int?
    package let edit: Edit?
    package let isDryRun: Bool

    package init(rate: Int?, edit: Edit?, isDryRun: Bool) {
        self.rate = rate
        self.edit = edit
        self.isDryRun = isDryRun
    }

    /// - Parameter jobs: At most ``JobQueue/replayMax``.
    package func start(_ jobs: [JobRecord], on queue: JobQueue) async throws -> [ReplayLine] {
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

    /// Restores a job that was moved to a file, likewise.
    package func restore(_ job: SpilledJob, on queue: JobQueue) async throws -> ReplayLine {
        let answer = isDryRun ? nil : try await queue.restore(job)
        if let rate, !isDryRun { try await Task.sleep(for: .seconds(1) / rate) }
        return ReplayLine(
            job: job.job, asset: job.asset, code: job.code.flatMap(FailureCode.init),
            answer: answer)
    }

    /// Replays jobs with given ids, which may not exist.
    package func start(named ids: [String], on queue: JobQueue) async throws -> [ReplayLine] {
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

/// The result of one job's replay.
package struct ReplayLine: Encodable, Sendable {
    package let job: String
    package let asset: String?
    /// The failure code of its death.
    package let code: FailureCode?
    /// The reply of the queue; nil in a dry run.
    package let answer: JobQueue.Replay?

    private enum Key: CodingKey { case job, asset, code, answer }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(job, forKey: .job)
        try fields.encodeIfPresent(asset, forKey: .asset)
        try fields.encodeIfPresent(code, forKey: .code)
        try fields.encode(answer.map { "\($0)" } ?? "wouldBeReplayed", forKey: .answer)
    }
}

/// The numbers of jobs by the result of their replay.
package struct ReplayCounts: Encodable, Sendable {
    package private(set) var replayed = 0
    package private(set) var refused = 0
    package private(set) var codes: [String: Int] = [:]

    package mutating func count(_ line: ReplayLine) {
        switch line.answer {
        case nil, .replayed:
            replayed += 1
            codes[line.code?.rawValue ?? "unknown", default: 0] += 1
        case .unknown, .notDead, .malformed, .stuck, .conflict, .later, .damaged: refused += 1
        }
    }

    package init() {}
}
