import Redis

extension JobQueue {
    /// What a claim gave.
    public struct Claims: Sendable {
        /// The jobs, the most urgent first; empty when none is ready.
        public let jobs: [Claim]
        /// Whether a job in quarantine waits for the caller to hold no other.
        public let wantsIdle: Bool
        /// Whether jobs were passed over because their records are of a later format.
        public let hasLater: Bool
        /// Whether there may be jobs that the call did not come to: it is to be called again at once.
        public let hasMore: Bool
    }

    /// Takes ready jobs under a lease.
    ///
    /// - Parameters:
    ///   - worker: who takes them, for people.
    ///   - count: at most so many; take only what can be started at once.
    ///   - isIdle: whether the worker holds no job; only then it is given one in quarantine.
    public func claim(
        by worker: String, count: Int, isIdle: Bool = true
    ) async throws(QueueError) -> Claims {
        let reply = try await run(
            QueueScript.claim,
            [
                RedisArgument(worker), RedisArgument(count), isIdle ? "1" : "",
                RedisArgument(settings.lease.milliseconds),
                RedisArgument(settings.passedMax), RedisArgument(settings.usualCost),
                RedisArgument(settings.cappedMax),
            ])
        guard let parts = reply.array, parts.count == 2, let wanted = parts[0].string,
            let rows = parts[1].array
        else { throw unexpected(reply, of: QueueScript.claim) }
        var jobs: [Claim] = []
        for row in rows {
            guard let claim = Claim(row) else { throw unexpected(row, of: QueueScript.claim) }
            jobs.append(claim)
        }
        return Claims(
            jobs: jobs, wantsIdle: wanted == "alone", hasLater: wanted == "later",
            hasMore: wanted == "again")
    }
}

extension Claim {
    init?(_ row: RedisReply) {
        guard let fields = row.array, fields.count == 15, let job = fields[0].string,
            let fence = fields[1].string, let asset = fields[2].bytes, let edit = fields[3].bytes,
            let generation = fields[4].int, let attempts = fields[5].int,
            let crashes = fields[6].int, let rebases = fields[7].int,
            let enqueued = fields[8].int, let now = fields[9].int,
            let batch = fields[10].string, let tenant = fields[11].string,
            let arrival = fields[13].int, let parent = fields[14].string
        else { return nil }
        self.init(
            job: job, fence: fence, asset: String(decoding: asset, as: UTF8.self),
            edit: String(decoding: edit, as: UTF8.self), generation: Int(generation),
            attempts: Int(attempts), crashes: Int(crashes), rebases: Int(rebases),
            queued: .milliseconds(now - enqueued), batch: batch.isEmpty ? nil : batch,
            tenant: tenant, isAlone: fields[12].string == "1", arrival: Int(arrival),
            parent: parent.isEmpty ? nil : parent)
    }
}
