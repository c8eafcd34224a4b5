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
        let answers = try await inChunks(jobs) { try await queue.replay($0.map(\.job), with: edit) }
        return zip(jobs, answers).map { record, answer in
            ReplayLine(job: record.job, asset: record.asset, code: record.code, answer: answer)
        }
    }

    /// Restores jobs that were moved to the library, likewise.
    package func restore(_ jobs: [SpilledJob], on queue: JobQueue) async throws -> [ReplayLine] {
        let answers = try await inChunks(jobs) { try await queue.restore($0) }
        return zip(jobs, answers).map { job, answer in
            ReplayLine(
                job: job.job, asset: job.asset, code: job.code.flatMap(FailureCode.init),
                // A dry run refuses what can be refused without the queue.
                answer: isDryRun && job.fault != nil ? .malformed : answer)
        }
    }

    /// Does jobs again of which the library lacks what they made, likewise.
    package func start(lost jobs: [LostJob], on queue: JobQueue) async throws -> [ReplayLine] {
        let answers = try await inChunks(jobs) { try await queue.replay(lost: $0) }
        return zip(jobs, answers).map { job, answer in
            ReplayLine(job: job.job, asset: job.asset, code: nil, answer: answer)
        }
    }

    /// Returns an answer for each job: nil in a dry run, in which `send` is not called.
    private func inChunks<Job>(
        _ jobs: [Job], _ send: ([Job]) async throws -> [JobQueue.Replay]
    ) async throws -> [JobQueue.Replay?] {
        if isDryRun { return Array(repeating: nil, count: jobs.count) }
        var answers: [JobQueue.Replay?] = []
        let chunk = min(rate ?? JobQueue.replayMax, JobQueue.replayMax)
        for start in stride(from: 0, to: jobs.count, by: chunk) {
            let some = Array(jobs[start..<min(start + chunk, jobs.count)])
            answers += try await send(some)
            if let rate { try await Task.sleep(for: .seconds(1) * some.count / rate) }
        }
        return answers
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
                var line = ReplayLine(job: id, asset: nil, code: nil, answer: .unknown)
                let facts = try await queue.facts(of: id)
                if case .moved(let places) = facts.reason { line.places = places }
                lines.append(line)
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
    /// The places of the library to which it may have been moved, as text for people; nil if it was not.
    package var places: String?

    private enum Key: CodingKey { case job, asset, code, answer, places }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(job, forKey: .job)
        try fields.encodeIfPresent(asset, forKey: .asset)
        try fields.encodeIfPresent(code, forKey: .code)
        try fields.encode(answer.map { "\($0)" } ?? "wouldBeReplayed", forKey: .answer)
        try fields.encodeIfPresent(places, forKey: .places)
    }
}

/// The numbers of jobs by the result of their replay.
package struct ReplayCounts: Encodable, Sendable {
    package private(set) var replayed = 0
    package private(set) var refused = 0
    package private(set) var codes: [String: Int] = [:]

    /// - Parameter byCode: whether the jobs had failed.
    package mutating func count(_ line: ReplayLine, byCode: Bool = true) {
        switch line.answer {
        case nil, .replayed:
            replayed += 1
            if byCode { codes[line.code?.rawValue ?? "unknown", default: 0] += 1 }
        case .underWay: break
        case .unknown, .notDead, .malformed, .stuck, .notKept, .conflict, .later, .damaged:
            refused += 1
        }
    }

    package init() {}
}
