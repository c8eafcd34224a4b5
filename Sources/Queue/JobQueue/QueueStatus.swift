import Redis

/// The number of jobs in each state.
public struct QueueStatus: Sendable, Codable, Equatable {
    /// Entries of the ingress stream that are not yet jobs.
    public let incoming: Int
    /// Entries of batches' streams that are not yet jobs.
    public let lanes: Int
    /// Jobs that can be claimed.
    public let ready: Int
    /// Jobs that wait for their start time or for their next attempt.
    public let delayed: Int
    /// Jobs that wait for another job of their asset.
    public let parked: Int
    /// Jobs that workers hold.
    public let active: Int
    /// Jobs whose version cannot be published: an operator must act.
    public let stuck: Int
    /// Jobs that failed permanently.
    public let dead: Int
    /// The reason why no job is claimed; nil while claims continue.
    public let paused: String?
    /// The reason why entries stay in the ingress stream; nil while they are admitted.
    public let ingressHold: IngressHold?
    /// The tenants that have ready jobs, and the order of service.
    public let flows: [Flow]
    /// The counts of events since the queue was created: `admitted`, `completed`, `failed`, `retried`, `drafted`, `unchanged`,
    /// `superseded`, `cancelled`, `crashed`, `stuck`, `quarantined`, `replayed`, `duplicates`, `conflicts`, `batches`. `voided`
    /// counts claims that no heartbeat confirmed, or whose worker died before it started the job. `pardoned` counts crashes that
    /// were uncounted because the worker was alive. `requeued` counts jobs that were released because a worker was short of
    /// memory. `milliseconds` is the time for which workers held jobs.
    public let counters: [String: Int]
    /// The jobs that workers hold, the oldest hold first; at most ``heldMax``.
    public let held: [JobRecord]
    /// The stuck jobs, the first one first; at most ``heldMax``.
    public let stuckJobs: [JobRecord]
    /// The workers that sent a heartbeat recently.
    public let workers: [WorkerInfo]

    /// The ready jobs of one tenant at one priority.
    public struct Flow: Sendable, Codable, Equatable {
        /// The priority; `alone` is quarantine.
        public let priority: String
        /// The tenant.
        public let tenant: String
        /// The number of ready jobs.
        public let ready: Int
        /// The virtual time at which the next job starts; the flow with the least time is next.
        public let start: Int
        /// Whether the tenant is at its cap.
        public let isCapped: Bool
    }

    /// The maximum number of held jobs that are listed.
    public static let heldMax = 50
    /// The maximum number of flows and batch streams that are inspected; `ready` and `lanes` leave out the rest.
    public static let flowsMax = 10_000

    /// Whether no work is left that workers would do without an operator.
    public var isDrained: Bool { incoming + lanes + ready + delayed + parked + active == 0 }
}

extension QueueStatus {
    /// The number of jobs in workers' hands. Where all of them are listed, their list is counted: readers see it, too, and
    /// numbers from two readings differ.
    package var inHand: Int { held.count < Self.heldMax ? held.count : active }

    /// The number of jobs in the hands of one worker, by the leases; nil if not all jobs in hand are listed.
    package func inHand(of worker: WorkerInfo) -> Int? {
        held.count < Self.heldMax ? held.count { $0.worker == worker.name } : nil
    }
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
