public import Adjustments
import Logging
public import Redis

/// A queue of photo edits in Redis: the calls that move a job from one state to the next.
///
/// Each call is one script, so a crash leaves a job in one state or the other. All are safe to repeat
/// after a lost reply, except `claim`, whose jobs then come back when their lease runs out.
public struct JobQueue: Sendable {
    /// Its name.
    public let name: QueueName
    /// Its times and sizes.
    public let settings: QueueSettings
    let redis: RedisClient

    /// A queue that talks through `redis`.
    public init(name: QueueName, redis: RedisClient, settings: QueueSettings = QueueSettings()) {
        self.name = name
        self.redis = redis
        self.settings = settings
    }

    /// Appends a job to the ingress stream, as any producer would: one plain `XADD`.
    ///
    /// - Returns: the entry's id, which is the job's id when the request has none.
    public func enqueue(_ request: JobRequest) async throws(QueueError) -> String {
        var command: [RedisArgument] = [
            "XADD", RedisArgument(name.ingressKey), "*", "asset",
            RedisArgument(request.asset.string), "edit",
            RedisArgument(request.edit.json.canonical),
        ]
        if let id = request.id { command += ["id", RedisArgument(id.string)] }
        guard let entry = try await send(command).string else {
            throw QueueError(.unexpectedReply, "XADD to \(name.ingressKey) did not answer an id.")
        }
        return entry
    }

    /// Turns the oldest entries of the ingress stream into jobs.
    ///
    /// - Returns: how many entries were taken; fewer than `settings.admitMax` when there are no more.
    public func admit() async throws(QueueError) -> Int {
        let reply = try await run(
            QueueScript.admit,
            [
                RedisArgument(settings.admitMax), RedisArgument(ContractLimits.assetBytesMax),
                RedisArgument(ContractLimits.editBytesMax),
                RedisArgument(ContractLimits.jobIDLengthMax), RedisArgument(settings.eventsMax),
            ])
        guard let counts = reply.array, counts.count == 2, let taken = counts[1].int else {
            throw unexpected(reply, of: QueueScript.admit)
        }
        return Int(taken)
    }

    /// What a claim gave.
    public struct Claims: Sendable {
        /// The jobs, oldest first; empty when none is ready.
        public let jobs: [Claim]
        /// When the next delayed job is due, or nil when none is delayed.
        public let nextDue: Duration?
    }

    /// Takes ready jobs under a lease.
    ///
    /// - Parameters:
    ///   - worker: who takes them, for people.
    ///   - count: at most so many; take only what can be started at once.
    public func claim(by worker: String, count: Int) async throws(QueueError) -> Claims {
        let reply = try await run(
            QueueScript.claim,
            [
                RedisArgument(worker), RedisArgument(count),
                RedisArgument(settings.lease.milliseconds),
                RedisArgument(settings.promotionsMax),
                RedisArgument(count + settings.looksExtra),
            ])
        guard let parts = reply.array, parts.count == 2, let due = parts[0].int,
            let rows = parts[1].array
        else { throw unexpected(reply, of: QueueScript.claim) }
        var jobs: [Claim] = []
        for row in rows {
            guard let claim = Claim(row) else { throw unexpected(row, of: QueueScript.claim) }
            jobs.append(claim)
        }
        return Claims(jobs: jobs, nextDue: due < 0 ? nil : .milliseconds(due))
    }

    /// Waits until there is something in the ingress stream, or the time is over.
    ///
    /// `admit` empties the stream, so whatever is in it is new. Work that comes without a new entry (a
    /// retry that is due, a replay) is found by asking again: so the time is short.
    ///
    /// - Parameter bell: a client of its own, because the wait blocks its connection.
    public func waitForWork(atMost time: Duration, bell: RedisClient) async throws(QueueError) {
        do {
            _ = try await bell.send(
                [
                    "XREAD", "COUNT", "1", "BLOCK",
                    // BLOCK 0 would wait for ever.
                    RedisArgument(max(1, time.milliseconds)), "STREAMS",
                    RedisArgument(name.ingressKey), "0",
                ], timeout: time + .seconds(5))
        } catch {
            throw QueueError(.redis, "waiting for work failed: \(error)", cause: error)
        }
    }

    func send(_ command: [RedisArgument]) async throws(QueueError) -> RedisReply {
        do {
            return try await redis.send(command)
        } catch {
            throw QueueError(.redis, "queue \(name): \(error)", cause: error)
        }
    }

    func run(
        _ script: RedisScript, _ arguments: [RedisArgument]
    ) async throws(QueueError) -> RedisReply {
        do {
            return try await redis.run(
                script, keys: [name.ingressKey],
                arguments: [RedisArgument(name.keyPrefix)] + arguments)
        } catch {
            throw QueueError(.redis, "queue \(name), \(script.name): \(error)", cause: error)
        }
    }

    func unexpected(_ reply: RedisReply, of script: RedisScript) -> QueueError {
        QueueError(
            .unexpectedReply,
            "script \(script.name) of queue \(name) answered \(reply), which this version of "
                + "minilab does not know.")
    }
}

extension Claim {
    init?(_ row: RedisReply) {
        guard let fields = row.array, fields.count == 10, let job = fields[0].string,
            let fence = fields[1].string, let asset = fields[2].bytes, let edit = fields[3].bytes,
            let generation = fields[4].int, let attempts = fields[5].int,
            let crashes = fields[6].int, let rebases = fields[7].int,
            let enqueued = fields[8].int, let now = fields[9].int
        else { return nil }
        self.init(
            job: job, fence: fence, asset: String(decoding: asset, as: UTF8.self),
            edit: String(decoding: edit, as: UTF8.self), generation: Int(generation),
            attempts: Int(attempts), crashes: Int(crashes), rebases: Int(rebases),
            queued: .milliseconds(now - enqueued))
    }
}

extension Duration {
    var milliseconds: Int {
        Int(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
