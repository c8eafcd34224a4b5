public import Logging
public import Redis

/// Keeps the leases of a worker's jobs alive.
///
/// It has its own connection and runs on that connection's own thread, so that neither a busy worker
/// nor a blocked one stops it. The trust in a lease ends by the local clock, counted from the *start*
/// of the last renewal that succeeded, so that a slow reply cannot stretch it.
public actor Heartbeat {
    private let redis: RedisClient
    private let queue: JobQueue
    private let logger: Logger
    private var held: [String: Hold] = [:]

    private struct Hold {
        let fence: String
        var trustedUntil: ContinuousClock.Instant
        let lost: @Sendable () -> Void
    }

    /// The thread of its connection.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { redis.unownedExecutor }

    /// Part of the lease that is given up for safety: a worker stops trusting a lease this long before
    /// Redis ends it.
    static let safetyMargin = 0.1

    /// Beats of one lease: one may be lost without harm.
    static let beatsPerLease = 3

    /// A heartbeat for jobs of `queue`.
    ///
    /// - Parameter redis: a client of its own, with its own thread.
    public init(queue: JobQueue, redis: RedisClient, logger: Logger) {
        self.queue = JobQueue(name: queue.name, redis: redis, settings: queue.settings)
        self.redis = redis
        self.logger = logger
    }

    /// Starts to renew a lease.
    ///
    /// - Parameters:
    ///   - since: when the claim was sent.
    ///   - lost: called once when the job is no longer ours: its render must be killed.
    public func hold(
        job: String, fence: String, since: ContinuousClock.Instant,
        lost: @escaping @Sendable () -> Void
    ) {
        held[job] = Hold(fence: fence, trustedUntil: since + trust, lost: lost)
    }

    /// Stops renewing a lease.
    public func letGo(job: String, fence: String) {
        if held[job]?.fence == fence { held[job] = nil }
    }

    /// Beats until the task is cancelled.
    public func run() async {
        let interval = queue.settings.lease / Self.beatsPerLease
        while !Task.isCancelled {
            await beat()
            do {
                try await Task.sleep(for: interval)
            } catch {
                return  // cancelled: that is the end
            }
        }
    }

    /// One renewal of all leases.
    func beat() async {
        let beating = held
        guard !beating.isEmpty else { return }
        let started = ContinuousClock.now
        do {
            let standings = try await queue.beat(
                beating.map { (job: $0.key, fence: $0.value.fence) })
            for ((job, hold), standing) in zip(beating, standings)
            where held[job]?.fence == hold.fence {
                switch standing {
                case .held: held[job]?.trustedUntil = started + trust
                case .fenced: lose(job, "Redis says that somebody else holds it or that it ended")
                }
            }
        } catch {
            logger.warning("heartbeat failed", metadata: ["error": "\(error)"])
        }
        let now = ContinuousClock.now
        for (job, hold) in held where hold.trustedUntil <= now {
            lose(job, "no heartbeat reached Redis for the length of its lease")
        }
    }

    private var trust: Duration { queue.settings.lease * (1 - Self.safetyMargin) }

    private func lose(_ job: String, _ why: String) {
        logger.warning("lease lost: \(why)", metadata: ["job.id": "\(job)"])
        held.removeValue(forKey: job)?.lost()
    }
}

extension JobQueue {
    /// Renews leases; one answer per job, in order.
    func beat(_ jobs: [(job: String, fence: String)]) async throws(QueueError) -> [Standing] {
        var arguments = [RedisArgument(settings.lease.milliseconds)]
        for (job, fence) in jobs { arguments += [RedisArgument(job), RedisArgument(fence)] }
        let reply = try await run(QueueScript.beat, arguments)
        guard let answers = reply.array?.map(\.string), answers.count == jobs.count else {
            throw unexpected(reply, of: QueueScript.beat)
        }
        return answers.map { $0 == "K" ? .held : .fenced }
    }
}
