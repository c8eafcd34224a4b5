public import Edits
public import Redis

extension JobQueue {
    public struct Claims: Sendable {
        /// The claimed jobs, the most urgent first; empty if none is ready.
        public let jobs: [Claim]
        /// Whether a job in quarantine waits until the caller holds no other job.
        public let requiresIdle: Bool
        /// Whether jobs were skipped because their records have a later format.
        public let hasLater: Bool
        /// Whether jobs were left to workers of another machine or release: ``sleep(atMost:afterLeaving:on:)``.
        public let leavesJobs: Bool
        /// Whether the call stopped before it had inspected all flows: the caller should claim again at once.
        public let hasMore: Bool
    }

    /// Claims ready jobs under a lease.
    ///
    /// - Parameters:
    ///   - worker: The name of the worker, for people.
    ///   - count: The maximum number of jobs. A worker should claim only jobs that it can start at once.
    ///   - isIdle: Whether the worker holds no job; only then it may receive a job in quarantine.
    public func claim(
        by worker: String, count: Int, isIdle: Bool = true
    ) async throws(QueueError) -> Claims {
        let tick = ticks.begin()
        let reply = try await run(
            QueueScript.claim, worker, count, isIdle, settings.lease, settings.passedMax,
            settings.usualCost, settings.cappedMax, tick.sinceLast)
        ticks.end(tick)
        guard let parts = reply.array, parts.count == 2, let wanted = parts[0].string,
            let rows = parts[1].array
        else { throw unexpected(reply, of: QueueScript.claim) }
        var jobs: [Claim] = []
        for row in rows {
            guard let claim = Claim(row, by: worker) else {
                throw unexpected(row, of: QueueScript.claim)
            }
            jobs.append(claim)
        }
        return Claims(
            jobs: jobs, requiresIdle: wanted == "alone", hasLater: wanted == "later",
            leavesJobs: wanted == "later" || wanted == "left", hasMore: wanted == "again")
    }
}

extension Claim {
    fileprivate init?(_ row: RedisReply, by worker: String) {
        guard let fields = row.array, fields.count == 18, let job = fields[0].string,
            let fence = fields[1].string, let asset = fields[2].bytes, let edit = fields[3].bytes,
            let generation = fields[4].int, let attempts = fields[5].int,
            let crashes = fields[6].int, let rebases = fields[7].int,
            let enqueued = fields[8].int, let now = fields[9].int,
            let batch = fields[10].string, let tenant = fields[11].string,
            let arrival = fields[13].int, let parent = fields[14].string,
            let traceparent = fields[15].string, let values = fields[16].bytes,
            let told = fields[17].string.flatMap({ Int($0) })
        else { return nil }
        self.init(
            job: job, fence: fence, worker: worker, asset: String(decoding: asset, as: UTF8.self),
            edit: String(decoding: edit, as: UTF8.self), generation: Int(generation),
            attempts: Int(attempts), crashes: Int(crashes), rebases: Int(rebases),
            queued: .milliseconds(now - enqueued), batch: batch.isEmpty ? nil : batch,
            tenant: tenant, isQuarantined: fields[12].string == "1", arrival: Int(arrival),
            fields: values.isEmpty ? nil : String(decoding: values, as: UTF8.self),
            traceparent: Traceparent(traceparent), told: told,
            parent: parent.isEmpty ? nil : parent)
    }
}

extension JobQueue {
    /// Waits until there are entries to admit, or the time is over.
    ///
    /// `admit` empties the ingress streams, so every entry in them is new, unless `admit` left entries because enough jobs wait.
    ///
    /// - Parameters:
    ///   - onlyUrgent: Whether to ignore the ingress stream of non-urgent jobs.
    ///   - position: The last entry read from the stream `bell`, or `0` for none. The method advances it.
    ///   - client: A client of its own, because the wait blocks its connection.
    public func waitForEntries(
        atMost time: Duration, onlyUrgent: Bool, after position: inout String,
        on client: RedisClient
    ) async throws(QueueError) {
        let bellKey = name.keys.bell
        let streams = [name.keys.urgentIngress] + (onlyUrgent ? [] : [name.keys.ingress])
        let reply = try await block(
            [
                "XREAD", "COUNT", "1", "BLOCK", max(1, time.milliseconds), "STREAMS", streams,
                bellKey, streams.map { _ in "0" }, position,
            ], atMost: time, on: client)
        for stream in reply.array ?? [] where stream.array?.first?.string == bellKey {
            guard let id = stream.array?.last?.array?.last?.array?.first?.string else {
                throw QueueError(.unexpectedReply, "the stream \(bellKey) has \(stream).")
            }
            position = id
        }
    }

    /// Waits until this worker is woken because there are jobs to claim, or the time is over.
    ///
    /// - Parameters:
    ///   - leaving: Whether the worker's last claim left jobs to others. It is not woken for these.
    ///   - client: A client of its own, because the wait blocks its connection.
    /// - Returns: Whether the worker was woken. A woken worker that does not claim must wake another one by ``wakeAnother()``.
    public func sleep(
        atMost time: Duration, afterLeaving leaving: Bool = false, on client: RedisClient
    ) async throws(QueueError) -> Bool {
        let seconds = Double(max(1, time.milliseconds)) / 1000
        let keys = [name.keys.wake] + (leaving ? [] : [name.keys.wakeOthers])
        let reply = try await block(["BLPOP", keys, "\(seconds)"], atMost: time, on: client)
        return reply.array != nil
    }

    /// Wakes another worker in place of the caller, which was woken and cannot claim.
    public func wakeAnother() async throws(QueueError) {
        _ = try await send("RPUSH", name.keys.wake, "1")
    }

    /// Returns whether there may be a job to claim, or flows whose caps have changed wait to be checked. This cheap check is for a worker
    /// that was not woken.
    public func hasClaimable() async throws(QueueError) -> Bool {
        let replies = try await sendAll([
            ["EXISTS", Self.priorities.map(name.keys.flows)],
            ["HEXISTS", name.keys.virtual, "recheck"],
        ])
        return replies.contains { $0.int != 0 }
    }

    private func block(
        _ command: [any Arguments], atMost time: Duration, on client: RedisClient
    ) async throws(QueueError) -> RedisReply {
        do {
            return try await client.send(RedisArgument.list(command), timeout: time + .seconds(5))
        } catch {
            throw QueueError(.redis, "waiting for work failed: \(error)", cause: error)
        }
    }
}

/// One job in a heartbeat.
struct Beat: Arguments {
    let hold: Hold
    var stage: String?
    var progress: JobProgress?

    func append(to arguments: inout [RedisArgument]) {
        arguments += RedisArgument.list([hold, stage, progress?.framesDone, progress?.frames])
    }
}

/// The answer to a heartbeat.
struct BeatAnswer: Equatable {
    /// The standing of each job, in the order of the beats.
    let replies: [Hold.Reply]
    /// Whether another living worker has the name of this one.
    let isNameShared: Bool
}

extension JobQueue {
    /// Renews leases and confirms claims.
    func beat(
        _ beats: [Beat], by worker: WorkerInfo
    ) async throws(QueueError) -> BeatAnswer {
        let reply = try await run(
            QueueScript.beat, settings.lease, worker.name, json(worker), beats)
        guard let answers = reply.array?.map(\.string), answers.count == beats.count + 1 else {
            throw unexpected(reply, of: QueueScript.beat)
        }
        return BeatAnswer(
            replies: answers.dropLast().map {
                $0 == "K" || $0 == "E" ? .held : $0 == "C" ? .cancelled : .fenced
            },
            isNameShared: answers.last == "1")
    }

    /// Unregisters a worker that stops. A worker that died is removed after ten leases.
    ///
    /// For five minutes it counts as one that may be able to do what the others cannot: another takes its place in an update
    /// (`LEFT_GRACE` of `jobs.lua`).
    public func leave(_ worker: String) async throws(QueueError) {
        let (left, now) = (name.keys.prefix + "workers:left", try await now())
        let report = try await send("HGET", name.keys.workerInfos, worker).string ?? ""
        let earlier = try await send("HGETALL", left).pairs ?? [:]
        let forgotten = earlier.filter { _, value in
            let at = value.prefix { $0 != " " }
            return Int(at).map { abs(now - $0) > Self.leftGrace } ?? true
        }
        _ = try await sendAll(
            forgotten.keys.map { ["HDEL", left, $0] } + [
                ["HSET", left, worker, "\(now) \(report)"],
                // The doctor takes a report without a worker for one that nothing removes.
                ["HDEL", name.keys.workerInfos, worker], ["ZREM", name.keys.workers, worker],
                ["HDEL", name.keys.sharedNames, worker],
                ["UNLINK", name.keys.prefix + "skips:" + worker],
            ])
    }

    /// Forgets the workers that have stopped: whoever calls this knows that none takes their places.
    package func forgetStoppedWorkers() async throws(QueueError) {
        _ = try await send("DEL", name.keys.prefix + "workers:left")
    }

    /// The time in ms for which a worker that stopped counts: LEFT_GRACE of `jobs.lua`.
    private static let leftGrace = 300_000

    /// The result of pardoning lost holds.
    struct Pardons: Equatable {
        /// The number of holds that were not reaped yet: their jobs are ready again.
        var released = 0
        /// The number of holds for which a crash was counted and is now uncounted.
        var pardoned = 0
    }

    /// Reports that the worker of lost holds is alive, so that no crash is counted for them.
    ///
    /// The worker has stopped its work on them, or stops at once.
    func pardon(_ holds: [Hold]) async throws(QueueError) -> Pardons {
        let reply = try await run(QueueScript.pardon, settings.crashesToQuarantine, holds)
        guard let answers = reply.array, answers.count == holds.count else {
            throw unexpected(reply, of: QueueScript.pardon)
        }
        var pardons = Pardons()
        for answer in answers {
            switch answer.string {
            case "RELEASED": pardons.released += 1
            case "PARDONED": pardons.pardoned += 1
            case "NOTHING": break
            default: throw unexpected(answer, of: QueueScript.pardon)
            }
        }
        return pardons
    }
}

/// The result of claiming a part for the worker of its job.
public enum PartState: Sendable, Equatable {
    /// No other worker runs it, and none will: the parent's worker may run it. It may have been done already.
    case ours
    /// Another worker runs it now.
    case busy
    /// The caller does not hold the parent any more.
    case fenced
}

extension JobQueue {
    /// Creates parts of a job that any worker may run. Parts have no events and do not count as jobs.
    ///
    /// They end with the job. A job in quarantine has no parts.
    ///
    /// - Parameters:
    ///   - task: The task, the same for all parts; parts with another task end.
    ///   - numbers: The numbers of the parts. Parts that exist or have ended are not created again.
    public func split(
        _ claim: Claim, task: String, into numbers: [Int]
    ) async throws(QueueError) -> Hold.Reply {
        try await holdState(QueueScript.split, claim.hold, task, numbers)
    }

    /// Claims a part for the worker of its job, unless another worker runs it now.
    ///
    /// - Returns: The result, and the numbers of the parts that other workers have ended.
    public func claimPart(
        _ claim: Claim, _ number: Int
    ) async throws(QueueError) -> (state: PartState, ended: [Int]) {
        let reply = try await run(QueueScript.claimPart, claim.hold, number)
        guard let fields = reply.array?.map(\.string), let answer = fields.first else {
            throw unexpected(reply, of: QueueScript.claimPart)
        }
        let ended = fields.dropFirst().compactMap { $0.flatMap { Int($0) } }
        switch answer {
        case "OURS": return (.ours, ended)
        case "BUSY": return (.busy, ended)
        case "GONE", "FENCED": return (.fenced, ended)
        default: throw unexpected(reply, of: QueueScript.claimPart)
        }
    }
}
