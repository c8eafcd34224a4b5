public import Adjustments
import FoundationEssentials
import Redis

/// What Redis says to a write by a worker that holds a job.
public enum Standing: Sendable, Equatable {
    /// The write was done, or had been done by the same hold before.
    case held
    /// Somebody else holds the job, or it has ended: this worker is late and must change nothing.
    case fenced
}

extension JobQueue {
    /// Step 1 of publishing: records the version that is about to become current, or the draft.
    public func commit(
        _ claim: Claim, _ event: JobEvent.Completed, isDraft: Bool
    ) async throws(QueueError) -> Standing {
        try await standing(
            QueueScript.commit,
            [
                RedisArgument(claim.job), RedisArgument(claim.fence),
                RedisArgument(event.version.id),
                RedisArgument((isDraft ? JobOutcome.Name.drafted : .completed).rawValue),
                RedisArgument(json(event)),
            ])
    }

    /// Ends a job that found nothing to do.
    public func conclude(
        _ claim: Claim, _ event: JobEvent.Unchanged
    ) async throws(QueueError) -> Standing {
        try await standing(
            QueueScript.conclude,
            [
                RedisArgument(claim.job), RedisArgument(claim.fence),
                RedisArgument(JobOutcome.Name.unchanged.rawValue), RedisArgument(json(event)),
                RedisArgument(settings.doneRecordsMax), RedisArgument(settings.eventsMax),
            ])
    }

    /// Tells readers what a render will look like, roughly, while it runs.
    public func preview(
        _ claim: Claim, _ event: JobEvent.Previewed
    ) async throws(QueueError) -> Standing {
        try await standing(
            QueueScript.preview,
            [
                RedisArgument(claim.job), RedisArgument(claim.fence),
                RedisArgument(event.attempt), RedisArgument(json(event)),
                RedisArgument(settings.eventsMax),
            ])
    }

    /// Step 3 of publishing: the job is done, counted, and its event sent.
    public func finalize(job: String, fence: String) async throws(QueueError) -> Standing {
        try await standing(
            QueueScript.finalize,
            [
                RedisArgument(job), RedisArgument(fence),
                RedisArgument(settings.doneRecordsMax), RedisArgument(settings.eventsMax),
            ])
    }

    /// Ends an attempt that failed; the retry policy decides what follows.
    ///
    /// - Parameter random: an even draw from 0 to 1, for the jitter.
    public func fail(
        _ claim: Claim, by worker: String, _ failure: Failure, random: Double
    ) async throws(QueueError) -> Standing {
        let reason = JobEvent.Reason(failure)
        let delay: String
        let event: String
        switch settings.retry.verdict(failure, attempts: claim.attempts + 1, random: random) {
        case .dead:
            delay = "dead"
            event = json(
                JobEvent.Failed(
                    job: claim.job, asset: claim.asset, generation: claim.generation,
                    attempt: claim.attempt, worker: worker, error: reason))
        case .retry(let after):
            delay = "\(after.milliseconds)"
            event = json(
                JobEvent.Retried(
                    job: claim.job, asset: claim.asset, generation: claim.generation,
                    attempt: claim.attempt, worker: worker, error: reason,
                    delayMilliseconds: after.milliseconds))
        }
        return try await standing(
            QueueScript.fail,
            [
                RedisArgument(claim.job), RedisArgument(claim.fence), RedisArgument(delay),
                RedisArgument(failure.code.rawValue), RedisArgument(failure.message),
                RedisArgument(event),
                RedisArgument(
                    json(Attempt(claim: claim, worker: worker, failure: failure))),
                RedisArgument(settings.eventsMax),
            ])
    }

    /// Why a job is handed back.
    public enum Release: String, Sendable {
        /// The worker stops.
        case shutdown
        /// The asset's current version changed under the render.
        case rebase
    }

    /// Hands a job back, to be claimed again at its old place; no attempt is burnt.
    public func release(
        job: String, fence: String, _ reason: Release
    ) async throws(QueueError) -> Standing {
        try await standing(
            QueueScript.release,
            [RedisArgument(job), RedisArgument(fence), RedisArgument(reason.rawValue)])
    }

    /// What a reap found.
    public struct Reaped: Sendable {
        /// Jobs that are ready again.
        public let ready: Int
        /// Jobs that are dead, because workers died over them too often.
        public let dead: Int
        /// Jobs that the caller now holds and has to carry on from the pointer.
        public let carried: [CarriedJob]
    }

    /// Takes back what workers hold whose lease ran out.
    public func reap(by worker: String) async throws(QueueError) -> Reaped {
        let reply = try await run(
            QueueScript.reap,
            [
                RedisArgument(worker), RedisArgument(settings.lease.milliseconds),
                RedisArgument(settings.reapMax), RedisArgument(settings.crashesMax),
                RedisArgument(settings.eventsMax), RedisArgument(settings.keepDone.milliseconds),
                RedisArgument(settings.dropMax),
            ])
        guard let parts = reply.array, parts.count == 3, let ready = parts[0].int,
            let dead = parts[1].int, let rows = parts[2].array
        else { throw unexpected(reply, of: QueueScript.reap) }
        var carried: [CarriedJob] = []
        for row in rows {
            guard let fields = row.array?.map(\.string), fields.count == 5, let job = fields[0],
                let fence = fields[1], let asset = fields[2], let version = fields[3],
                let generation = fields[4].flatMap({ Int($0) })
            else { throw unexpected(row, of: QueueScript.reap) }
            carried.append(
                CarriedJob(
                    job: job, fence: fence, asset: asset, version: version, generation: generation)
            )
        }
        return Reaped(ready: Int(ready), dead: Int(dead), carried: carried)
    }

    /// What became of a job that was to be replayed.
    public enum Replay: String, Sendable {
        /// It is ready again.
        case replayed = "OK"
        /// There is no such job, or its record has been dropped since.
        case unknown = "GONE"
        /// It is not dead.
        case notDead = "NOTDEAD"
        /// Its envelope was wrong: there is nothing to run. Send it again.
        case malformed = "MALFORMED"
    }

    /// Most ids of one replay call.
    public static let replayMax = 200

    /// Makes dead jobs ready again; one answer per id, of which at most ``replayMax`` are allowed.
    public func replay(_ ids: [String]) async throws(QueueError) -> [Replay] {
        precondition(ids.count <= Self.replayMax, "replay in chunks of \(Self.replayMax)")
        let reply = try await run(QueueScript.replay, ids.map { RedisArgument($0) })
        guard let answers = reply.array?.compactMap({ $0.string.flatMap(Replay.init) }),
            answers.count == ids.count
        else { throw unexpected(reply, of: QueueScript.replay) }
        return answers
    }

    private func standing(
        _ script: RedisScript, _ arguments: [RedisArgument]
    ) async throws(QueueError) -> Standing {
        let reply = try await run(script, arguments)
        switch reply.string {
        case "OK": return .held
        case "GONE", "FENCED": return .fenced
        default: throw unexpected(reply, of: script)
        }
    }
}

/// One line of a job's history: why an attempt ended.
public struct Attempt: Sendable, Codable, Equatable {
    /// When, RFC 3339; by Redis' clock for a lost lease, by the worker's for a failure.
    public let at: String
    /// Why, for programs.
    public let code: FailureCode
    /// Why, for people.
    public let message: String
    /// The fence of the attempt.
    public let fence: String
    /// Who tried.
    public let worker: String

    init(claim: Claim, worker: String, failure: Failure) {
        at = Date.now.formatted(.iso8601)
        code = failure.code
        message = failure.message
        fence = claim.fence
        self.worker = worker
    }
}

/// Our own values always encode: they hold numbers that are finite and text.
func json(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
        preconditionFailure("\(type(of: value)) does not encode to JSON: \(error)")
    }
}
