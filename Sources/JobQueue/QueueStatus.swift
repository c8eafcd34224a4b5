import Redis

/// How many jobs are where.
public struct QueueStatus: Sendable, Codable, Equatable {
    /// Entries of the ingress stream that are not yet jobs.
    public let incoming: Int
    /// Entries of batches' lanes that are not yet jobs.
    public let lanes: Int
    /// Jobs that can be claimed.
    public let ready: Int
    /// Jobs that wait for their time, or for their next attempt.
    public let delayed: Int
    /// Jobs that wait for another job of their asset.
    public let parked: Int
    /// Jobs that workers hold.
    public let active: Int
    /// Jobs whose version cannot be published: somebody has to look.
    public let stuck: Int
    /// Jobs that failed for good.
    public let dead: Int
    /// Why no job is claimed, or nil when claims go on.
    public let paused: String?
    /// Why entries of the ingress stream are not taken in, or nil when they are.
    public let ingressHold: IngressHold?
    /// Who has ready jobs, and what is next.
    public let flows: [Flow]
    /// What happened since the queue exists: `admitted`, `completed`, `failed`, `retried`,
    /// `drafted`, `unchanged`, `superseded`, `cancelled`, `crashed`, `stuck`, `quarantined`, `replayed`, `duplicates`, `conflicts`,
    /// `batches`; `voided` are claims that no heartbeat confirmed, or whose worker died before it began with the job; `pardoned` are
    /// crashes that were taken back because the worker lived; `requeued` were handed back because a worker was short of memory; `milliseconds` is how long workers
    /// held jobs.
    public let counters: [String: Int]
    /// What workers hold, the oldest hold first; at most ``heldMax``.
    public let held: [JobRecord]
    /// Jobs that are stuck, the first one at the front; at most ``heldMax``.
    public let stuckJobs: [JobRecord]
    /// Workers that were heard of lately.
    public let workers: [WorkerInfo]

    /// The ready jobs of one tenant at one priority.
    public struct Flow: Sendable, Codable, Equatable {
        /// The priority; `alone` is quarantine.
        public let priority: String
        /// The tenant.
        public let tenant: String
        /// How many jobs are ready.
        public let ready: Int
        /// The virtual time at which the next one starts; the least is next.
        public let start: Int
        /// Whether the tenant is at its cap.
        public let isCapped: Bool
    }

    /// Most held jobs that are listed.
    public static let heldMax = 50
    /// Most flows and lanes that are looked at; `ready` and `lanes` leave out the rest.
    public static let flowsMax = 10_000

    /// Whether nothing is left that workers would do by themselves.
    public var isDrained: Bool { incoming + lanes + ready + delayed + parked + active == 0 }
}

extension QueueStatus.Flow {
    init?(_ row: RedisReply) {
        guard let fields = row.array, fields.count == 5, let priority = fields[0].string,
            let tenant = fields[1].string, let ready = fields[2].int, let start = fields[3].int,
            let capped = fields[4].string
        else { return nil }
        self.init(
            priority: priority, tenant: tenant, ready: Int(ready), start: Int(start),
            isCapped: capped == "1")
    }
}
