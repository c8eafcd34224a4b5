public import Adjustments
import FoundationEssentials
import Redis

/// What Redis says to a write by a worker that holds a job.
public enum Standing: Sendable, Equatable {
    /// The write was done, or had been done by the same hold before.
    case held
    /// Somebody else holds the job, or it has ended: this worker is late and must change nothing.
    case fenced
    /// The job was cancelled: it must not be published, and ``JobQueue/concludeCancelled(_:)`` ends it.
    case cancelled
}

extension JobQueue {
    /// Step 1 of publishing: records the version that is about to become current, or the draft.
    public func commit(
        _ claim: Claim, _ event: JobEvent.Completed, isDraft: Bool
    ) async throws(QueueError) -> Standing {
        try standing(
            try await commits.write([
                RedisArgument(claim.job), RedisArgument(claim.fence),
                RedisArgument(event.version.id),
                RedisArgument((isDraft ? JobOutcome.Name.drafted : .completed).rawValue),
                RedisArgument(json(event)),
            ]), of: QueueScript.commit)
    }

    /// Ends a job that found nothing to do.
    public func conclude(
        _ claim: Claim, _ event: JobEvent.Unchanged
    ) async throws(QueueError) -> Standing {
        try await conclude(claim, .unchanged, json(event))
    }

    /// Ends a job that came to its turn after a newer edit was published.
    public func conclude(
        _ claim: Claim, _ event: JobEvent.Superseded
    ) async throws(QueueError) -> Standing {
        try await conclude(claim, .superseded, json(event))
    }

    /// Ends a part of a job: its record is dropped, and nobody is told.
    public func concludePart(_ claim: Claim) async throws(QueueError) -> Standing {
        try await conclude(claim, .unchanged, "")
    }

    private func conclude(
        _ claim: Claim, _ outcome: JobOutcome.Name, _ data: String
    ) async throws(QueueError) -> Standing {
        try await standing(
            QueueScript.conclude,
            [
                RedisArgument(claim.job), RedisArgument(claim.fence),
                RedisArgument(outcome.rawValue), RedisArgument(data),
            ])
    }

    /// Tells readers what a render will look like, roughly, while it runs.
    public func preview(
        _ claim: Claim, _ event: JobEvent.Previewed
    ) async throws(QueueError) -> Standing {
        try await standing(
            QueueScript.preview,
            [
                RedisArgument(claim.job), RedisArgument(claim.fence), RedisArgument(json(event)),
            ])
    }

    /// Step 3 of publishing: the job is done, counted, and its event sent.
    public func finalize(job: String, fence: String) async throws(QueueError) -> Standing {
        try standing(
            try await finalizes.write([RedisArgument(job), RedisArgument(fence)]),
            of: QueueScript.finalize)
    }

    /// Hands a job on whose version could not be published: any worker carries it on after a delay, as often as the
    /// settings allow. Then it is stuck.
    ///
    /// - Parameters:
    ///   - carries: how often it has been carried on already.
    ///   - random: an even draw from 0 to 1, for the jitter.
    public func handOn(
        job: String, fence: String, by worker: String, _ failure: Failure, carries: Int,
        random: Double
    ) async throws(QueueError) -> Standing {
        try await standing(
            QueueScript.handOn,
            [
                RedisArgument(job), RedisArgument(fence),
                RedisArgument(settings.retry.delay(carries + 1, random).milliseconds),
                RedisArgument(settings.carriesMax), RedisArgument(failure.code.rawValue),
                RedisArgument(failure.message),
                RedisArgument(
                    json(
                        Attempt(
                            fence: fence, worker: worker, failure: failure,
                            trace: .init(stage: "publishing")))),
            ])
    }

    /// Ends an attempt that failed; the retry policy decides what follows.
    ///
    /// - Parameters:
    ///   - trace: how far the attempt had come, for the history.
    ///   - random: an even draw from 0 to 1, for the jitter.
    public func fail(
        _ claim: Claim, by worker: String, _ failure: Failure, _ trace: Attempt.Trace = .init(),
        random: Double
    ) async throws(QueueError) -> Standing {
        let reason = JobEvent.Reason(failure)
        let verdict = settings.retry.verdict(failure, after: claim, settings, random: random)
        let event: String
        switch verdict.next {
        case .dead:
            event = json(
                JobEvent.Failed(
                    job: claim.job, asset: claim.asset, generation: claim.generation,
                    attempt: claim.attempt, worker: worker, error: reason))
        case .retry(let after, _):
            event = json(
                JobEvent.Retried(
                    job: claim.job, asset: claim.asset, generation: claim.generation,
                    attempt: claim.attempt, worker: worker, error: reason,
                    delayMilliseconds: after.milliseconds))
        }
        return try await standing(
            QueueScript.fail,
            [
                RedisArgument(claim.job), RedisArgument(claim.fence),
                RedisArgument(verdict.counts.rawValue),
                RedisArgument(verdict.next.delay), verdict.next.isAlone ? "alone" : "",
                RedisArgument(failure.code.rawValue), RedisArgument(failure.message),
                RedisArgument(event),
                RedisArgument(
                    json(
                        Attempt(
                            fence: claim.fence, worker: worker, failure: failure, trace: trace))),
            ])
    }

    /// Why a job is handed back.
    public enum Release: String, Sendable {
        /// The worker stops.
        case shutdown
        /// The asset's current version changed under the render.
        case rebase
        /// The worker is short of memory; others, or itself later, may have enough.
        case pressure
        /// The library's store cannot be used; the job is as good as it was.
        case outage
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
        /// Why jobs whose lease ran out cannot be taken back: their records are broken.
        public let problems: [String]
    }

    /// Takes back what workers hold whose lease ran out. Called only after ``Heartbeat/mayReap``: a caller that was
    /// away itself cannot know who died.
    public func reap(by worker: String) async throws(QueueError) -> Reaped {
        let reply = try await run(
            QueueScript.reap,
            [
                RedisArgument(worker), RedisArgument(settings.lease.milliseconds),
                RedisArgument(settings.reapMax), RedisArgument(settings.crashesToQuarantine),
                RedisArgument(settings.crashesMax),
                RedisArgument(settings.keepDone.milliseconds), RedisArgument(settings.dropMax),
                RedisArgument(settings.batchesMax), RedisArgument(settings.seenMax),
                RedisArgument(settings.carriesMax), RedisArgument(settings.voidsMax),
                RedisArgument((settings.lease * settings.silentLeasesToBury).milliseconds),
            ])
        guard let parts = reply.array, parts.count == 4, let ready = parts[0].int,
            let dead = parts[1].int, let rows = parts[2].array, let problems = parts[3].array
        else { throw unexpected(reply, of: QueueScript.reap) }
        var carried: [CarriedJob] = []
        for row in rows {
            guard let fields = row.array?.map(\.string), fields.count == 6, let job = fields[0],
                let fence = fields[1], let asset = fields[2], let version = fields[3],
                let generation = fields[4].flatMap({ Int($0) }), let carries = row.array?[5].int
            else { throw unexpected(row, of: QueueScript.reap) }
            carried.append(
                CarriedJob(
                    job: job, fence: fence, asset: asset, version: version, generation: generation,
                    carries: Int(carries)))
        }
        return Reaped(
            ready: Int(ready), dead: Int(dead), carried: carried,
            problems: problems.compactMap(\.string))
    }

    func standing(
        _ script: RedisScript, _ arguments: [RedisArgument]
    ) async throws(QueueError) -> Standing {
        try standing(try await run(script, arguments), of: script)
    }

    private func standing(
        _ reply: RedisReply, of script: RedisScript
    ) throws(QueueError) -> Standing {
        switch reply.string {
        case "OK"?: return .held
        case "GONE"?, "FENCED"?: return .fenced
        case "CANCELLED"?: return .cancelled
        default: throw unexpected(reply, of: script)
        }
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
