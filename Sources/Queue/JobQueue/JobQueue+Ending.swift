public import Edits
import FoundationEssentials
import Redis

extension JobQueue {
    /// Step 1 of publishing: records the version that is about to become current, or the draft. Of ``JobEvent/Completion/untold``
    /// the event keeps what is behind the last version that was told.
    public func commit(
        _ claim: Claim, _ completion: JobEvent.Completion, isDraft: Bool
    ) async throws(QueueError) -> Hold.Reply {
        var told = completion
        told.untold = nil
        return try holdState(
            try await commits.write([
                RedisArgument(claim.job), RedisArgument(claim.fence),
                RedisArgument(completion.version.id),
                RedisArgument((isDraft ? JobOutcome.Name.drafted : .completed).rawValue),
                RedisArgument(json(JobEvent.Completed(JobEvent.Attempt(claim), told))),
                RedisArgument(isDraft ? "" : (completion.untold ?? []).lines),
            ]), of: QueueScript.commit)
    }

    /// Ends a job that had nothing to do.
    public func conclude(
        _ claim: Claim, _ change: JobEvent.NoChange
    ) async throws(QueueError) -> Hold.Reply {
        try await conclude(
            claim, .unchanged, json(JobEvent.Unchanged(JobEvent.Attempt(claim), change)))
    }

    /// Ends a job that made renditions of a version, and no version. They are in the library before.
    public func conclude(
        _ claim: Claim, _ made: JobEvent.MadeRenditions
    ) async throws(QueueError) -> Hold.Reply {
        try await conclude(
            claim, .rendered, json(JobEvent.Rendered(JobEvent.Attempt(claim), made)))
    }

    /// Ends a job that was claimed after a newer edit of its asset had been published.
    public func conclude(
        _ claim: Claim, _ newer: JobEvent.Supersession
    ) async throws(QueueError) -> Hold.Reply {
        try await conclude(
            claim, .superseded, json(JobEvent.Superseded(JobEvent.Attempt(claim), newer)))
    }

    /// Ends a part of a job: its record is removed without an event.
    public func concludePart(_ claim: Claim) async throws(QueueError) -> Hold.Reply {
        try await conclude(claim, .unchanged, "")
    }

    private func conclude(
        _ claim: Claim, _ outcome: JobOutcome.Name, _ data: String
    ) async throws(QueueError) -> Hold.Reply {
        try await holdState(QueueScript.conclude, claim.hold, outcome.rawValue, data)
    }

    /// Sends readers a rough preview of a render while it runs.
    public func preview(
        _ claim: Claim, placeholder: String
    ) async throws(QueueError) -> Hold.Reply {
        try await holdState(
            QueueScript.preview,
            [
                RedisArgument(claim.job), RedisArgument(claim.fence),
                RedisArgument(
                    json(
                        JobEvent.Previewed(
                            JobEvent.Attempt(claim), .init(placeholder: placeholder)))),
            ])
    }

    /// Step 3 of publishing: ends the job as done, counts it and sends its event.
    public func finalize(job: String, fence: String) async throws(QueueError) -> Hold.Reply {
        try holdState(
            try await finalizes.write([RedisArgument(job), RedisArgument(fence)]),
            of: QueueScript.finalize)
    }

    /// Hands on a job whose version could not be published. Any worker continues the publication after a delay, as often as the
    /// settings allow; then the job is stuck.
    ///
    /// - Parameters:
    ///   - carries: The number of continuations so far.
    ///   - random: A uniform random number from 0 to 1, for the jitter.
    public func handOn(
        job: String, fence: String, by worker: String, _ failure: Failure, carries: Int,
        random: Double
    ) async throws(QueueError) -> Hold.Reply {
        let attempt = Attempt(
            fence: fence, worker: worker, failure: failure, trace: .init(stage: "publishing"))
        return try await holdState(
            QueueScript.handOn, job, fence, settings.retry.delay(carries + 1, random),
            settings.carriesMax, failure.code.rawValue, failure.message, json(attempt),
            PublicMessage.of(failure.message))
    }

    /// Gives back a job whose publication this worker was to continue. Any worker continues it after ``giveBackDelay``, and
    /// that counts as the same continuation.
    public func giveBack(job: String, fence: String) async throws(QueueError) -> Hold.Reply {
        try await holdState(QueueScript.handOn, job, fence, Self.giveBackDelay)
    }

    /// The time before a publication that was given back is continued: a worker notices an outage of its store as fast.
    private static let giveBackDelay: Duration = .seconds(1)

    /// The outcome of a job that its worker could not do.
    public enum PassedOn: Sendable, Equatable {
        /// It is left to other workers; or the hold is lost, or the job was cancelled.
        case left(Hold.Reply)
        /// No other worker that lives is able to do it.
        case dead
        /// Likewise, and nothing was changed: the failure may pass.
        case nobody
    }

    /// Leaves a job that the machine of its worker cannot do to the other workers. If no other one that lives is able, it is dead, or
    /// nothing is changed if the failure may pass.
    ///
    /// - Parameter need: What a worker must have for it.
    public func passOn(
        _ claim: Claim, by worker: String, _ failure: Failure, needing need: MachineNeed,
        _ trace: Attempt.Trace
    ) async throws(QueueError) -> PassedOn {
        let last = Failure(
            failure.code, "No worker that is alive can do this job. " + failure.message)
        let attempt = JobEvent.Attempt(claim)
        let reply = try await run(
            QueueScript.passOn,
            [
                RedisArgument(claim.job), RedisArgument(claim.fence), RedisArgument(worker),
                RedisArgument(need.triesMax), RedisArgument(last.code.rawValue),
                RedisArgument(last.message),
                RedisArgument(json(JobEvent.Failed(attempt, .init(last)))),
                RedisArgument(
                    json(
                        Attempt(
                            fence: claim.fence, worker: worker, failure: failure, trace: trace))),
                RedisArgument(need.text), failure.code.isPermanent ? "1" : "",
                RedisArgument(failure.message),
                RedisArgument(json(JobEvent.Failed(attempt, .init(failure)))),
            ])
        switch reply.string {
        case "DEAD": return .dead
        case "NONE": return .nobody
        default: return .left(try holdState(reply, of: QueueScript.passOn))
        }
    }

    /// Ends a failed attempt; the retry policy decides the next state of the job.
    ///
    /// - Parameters:
    ///   - trace: The stage that the attempt had reached, for the history.
    ///   - random: A uniform random number from 0 to 1, for the jitter.
    public func fail(
        _ claim: Claim, by worker: String, _ failure: Failure, _ trace: Attempt.Trace = .init(),
        random: Double
    ) async throws(QueueError) -> Hold.Reply {
        let attempt = JobEvent.Attempt(claim)
        let verdict = settings.retry.verdict(failure, after: claim, settings, random: random)
        let event: String
        switch verdict.next {
        case .dead: event = json(JobEvent.Failed(attempt, .init(failure)))
        case .retry(let after, _):
            event = json(
                JobEvent.Retried(
                    attempt, .init(after: failure, delayMilliseconds: after.milliseconds)))
        }
        return try await holdState(
            QueueScript.fail,
            [
                RedisArgument(claim.job), RedisArgument(claim.fence),
                RedisArgument(verdict.counts.rawValue),
                RedisArgument(verdict.next.delay), verdict.next.isQuarantined ? "alone" : "",
                RedisArgument(failure.code.rawValue), RedisArgument(failure.message),
                RedisArgument(event),
                RedisArgument(
                    json(
                        Attempt(
                            fence: claim.fence, worker: worker, failure: failure, trace: trace))),
            ])
    }

    /// The reason why a worker releases a job.
    public enum Release: String, Sendable {
        /// The worker shuts down.
        case shutdown
        /// The asset's current version changed during the render.
        case rebase
        /// The worker is short of memory; other workers, or the same one later, may have enough.
        case pressure
        /// The library's store is not available; the job itself has not failed.
        case outage
    }

    /// Releases a job, so that it can be claimed again from its old position. No attempt is counted.
    public func release(
        job: String, fence: String, _ reason: Release
    ) async throws(QueueError) -> Hold.Reply {
        try await holdState(QueueScript.release, job, fence, reason.rawValue)
    }

    public struct Reaped: Sendable {
        /// The number of jobs that are ready again.
        public let ready: Int
        /// The number of jobs that are dead, because too many workers died while they ran them.
        public let dead: Int
        /// The jobs that the caller now holds and whose publication it must continue.
        public let carried: [CarriedJob]
        /// The reasons why jobs with an expired lease cannot be reaped: their records are broken.
        public let problems: [String]
    }

    /// Reaps the holds of other workers whose leases expired. It may be called only if ``Heartbeat/mayReap``: a caller that was
    /// cut off itself cannot know which workers died.
    public func reap(by worker: String) async throws(QueueError) -> Reaped {
        let tick = ticks.begin()
        let reply = try await run(
            QueueScript.reap, worker, settings.lease, settings.reapMax,
            settings.crashesToQuarantine, settings.crashesMax, settings.keepDone,
            settings.removalsMax, settings.batchesMax, settings.seenMax, settings.carriesMax,
            settings.voidsMax, (settings.lease * settings.silentLeasesToDeath), tick.sinceLast)
        ticks.end(tick)
        guard let parts = reply.array, parts.count == 4, let ready = parts[0].int,
            let dead = parts[1].int, let rows = parts[2].array, let problems = parts[3].array
        else { throw unexpected(reply, of: QueueScript.reap) }
        var carried: [CarriedJob] = []
        for row in rows {
            guard let fields = row.array?.map(\.string), fields.count == 8, let job = fields[0],
                let fence = fields[1], let asset = fields[2], let version = fields[3],
                let generation = fields[4].flatMap({ Int($0) }), let carries = row.array?[5].int,
                let traceparent = fields[6], let arrival = fields[7].flatMap({ Int($0) })
            else { throw unexpected(row, of: QueueScript.reap) }
            carried.append(
                CarriedJob(
                    version: CommittedVersion(
                        job: job, generation: generation, fence: fence, name: version, asset: asset
                    ), carries: Int(carries), arrival: arrival,
                    traceparent: Traceparent(traceparent)))
        }
        return Reaped(
            ready: Int(ready), dead: Int(dead), carried: carried,
            problems: problems.compactMap(\.string))
    }

    func holdState(
        _ script: RedisScript, _ arguments: any Arguments...
    ) async throws(QueueError) -> Hold.Reply {
        try holdState(
            try await Self.run(script, RedisArgument.list(arguments), name, redis, settings),
            of: script)
    }

    private func holdState(
        _ reply: RedisReply, of script: RedisScript
    ) throws(QueueError) -> Hold.Reply {
        switch reply.string {
        case "OK"?: return .held
        case "GONE"?, "FENCED"?: return .fenced
        case "CANCELLED"?: return .cancelled
        default: throw unexpected(reply, of: script)
        }
    }
}

/// The types of this target always encode: they contain only finite numbers and text.
func json(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
        preconditionFailure("\(type(of: value)) does not encode to JSON: \(error)")
    }
}

extension [JobEvent.Untold] {
    /// As commit.lua reads them: no name of a version or a job has a space.
    fileprivate var lines: String {
        compactMap { earlier in earlier.job.map { "\(earlier.version) \($0)" } }
            .joined(separator: "\n")
    }
}

/// The way in which a job was done: with a version, or without.
public enum JobOutcome: Sendable {
    case completed(JobEvent.Completed)
    case drafted(JobEvent.Completed)
    case rendered(JobEvent.Rendered)
    /// There was nothing to do.
    case unchanged(JobEvent.Unchanged)
    /// A newer edit of the asset was published before.
    case superseded(JobEvent.Superseded)
    case cancelled(JobEvent.Cancelled)

    /// The names of the outcomes in events and in Redis.
    package enum Name: String {
        case completed, drafted, rendered, unchanged, superseded, cancelled

        /// Whether the job has done what it was to do.
        package var isSuccess: Bool { self != .superseded && self != .cancelled }
    }

    /// Decodes a stored result. Throws for a name that this version of minilab does not know.
    init(_ name: String, json: Data) throws {
        let decoder = JSONDecoder()
        func data<Data: Decodable>() throws -> Data { try decoder.decode(Data.self, from: json) }
        switch Name(rawValue: name) {
        case .completed: self = .completed(try data())
        case .drafted: self = .drafted(try data())
        case .rendered: self = .rendered(try data())
        case .unchanged: self = .unchanged(try data())
        case .superseded: self = .superseded(try data())
        case .cancelled: self = .cancelled(try data())
        case nil: throw Failure(.internalError, "no outcome is called \(name.debugDescription).")
        }
    }
}
