import Edits
import Redis

extension JobQueue {
    /// The result of a claim.
    public struct Claims: Sendable {
        /// The claimed jobs, the most urgent first; empty if none is ready.
        public let jobs: [Claim]
        /// Whether a job in quarantine waits until the caller holds no other job.
        public let requiresIdle: Bool
        /// Whether jobs were skipped because their records have a later format.
        public let hasLater: Bool
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
            QueueScript.claim,
            [
                RedisArgument(worker), RedisArgument(count), isIdle ? "1" : "",
                RedisArgument(settings.lease.milliseconds),
                RedisArgument(settings.passedMax), RedisArgument(settings.usualCost),
                RedisArgument(settings.cappedMax), tick.sinceLast,
            ])
        ticks.end(tick)
        guard let parts = reply.array, parts.count == 2, let wanted = parts[0].string,
            let rows = parts[1].array
        else { throw unexpected(reply, of: QueueScript.claim) }
        var jobs: [Claim] = []
        for row in rows {
            guard let claim = Claim(row) else { throw unexpected(row, of: QueueScript.claim) }
            jobs.append(claim)
        }
        return Claims(
            jobs: jobs, requiresIdle: wanted == "alone", hasLater: wanted == "later",
            hasMore: wanted == "again")
    }
}

extension Claim {
    init?(_ row: RedisReply) {
        guard let fields = row.array, fields.count == 16, let job = fields[0].string,
            let fence = fields[1].string, let asset = fields[2].bytes, let edit = fields[3].bytes,
            let generation = fields[4].int, let attempts = fields[5].int,
            let crashes = fields[6].int, let rebases = fields[7].int,
            let enqueued = fields[8].int, let now = fields[9].int,
            let batch = fields[10].string, let tenant = fields[11].string,
            let arrival = fields[13].int, let parent = fields[14].string,
            let traceparent = fields[15].string
        else { return nil }
        self.init(
            job: job, fence: fence, asset: String(decoding: asset, as: UTF8.self),
            edit: String(decoding: edit, as: UTF8.self), generation: Int(generation),
            attempts: Int(attempts), crashes: Int(crashes), rebases: Int(rebases),
            queued: .milliseconds(now - enqueued), batch: batch.isEmpty ? nil : batch,
            tenant: tenant, isQuarantined: fields[12].string == "1", arrival: Int(arrival),
            traceparent: Traceparent(traceparent),
            parent: parent.isEmpty ? nil : parent)
    }
}
