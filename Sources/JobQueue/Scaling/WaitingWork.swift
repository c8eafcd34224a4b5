/// The work that a queue has, in seconds of one slot, in the parts that limits hold back: each batch, and the single jobs of
/// each tenant.
///
/// Seconds of a slot are what workers measure: how long one of their slots held a job. A slot keeps about one core busy.
public struct WaitingWork: Sendable, Equatable {
    /// Jobs that are limited together.
    public struct Part: Sendable, Equatable {
        /// nil: of tenants that nobody has counted.
        public let tenant: String?
        /// Those that wait and those that run.
        public let jobs: Int
        /// Their cost, in seconds of a slot.
        public let seconds: Double
        /// How many of them may run at the same time; nil is no limit.
        public let cap: Int?

        public init(tenant: String?, jobs: Int, seconds: Double, cap: Int? = nil) {
            self.tenant = tenant
            self.jobs = jobs
            self.seconds = seconds
            self.cap = cap
        }
    }

    public let parts: [Part]
    /// How many jobs of a tenant may run at the same time; of those without one, ``usualCap``.
    public let caps: [String: Int]
    /// nil is no limit.
    public let usualCap: Int?
    /// Whether no job is claimed at all.
    public let isPaused: Bool

    public init(
        parts: [Part], caps: [String: Int] = [:], usualCap: Int? = nil, isPaused: Bool = false
    ) {
        self.parts = parts
        self.caps = caps
        self.usualCap = usualCap
        self.isPaused = isPaused
    }

    /// How much of the work its limits let be done in a time, in seconds of a slot.
    ///
    /// A limit of n jobs at a time lets n seconds of work be done in a second, however many workers there are.
    public func seconds(within time: Duration) -> Double {
        let time = time / .seconds(1)
        return sum(of: { min($0.seconds, Self.limit($0.cap) * time) }) { $0 * time }
    }

    /// How many of the jobs may run at the same time.
    public var concurrency: Int {
        // Fits: limits are at most a million each, and jobs are counted in memory.
        Int(sum(of: { min(Double($0.jobs), Self.limit($0.cap)) }) { $0 }.rounded(.up))
    }

    /// - Parameters:
    ///   - value: of one part.
    ///   - most: what a tenant's limit lets through.
    private func sum(of value: (Part) -> Double, atMost most: (Double) -> Double) -> Double {
        var byTenant: [String?: Double] = [:]
        for part in parts { byTenant[part.tenant, default: 0] += value(part) }
        return byTenant.reduce(0) { total, entry in
            let cap = entry.key.flatMap { caps[$0] ?? usualCap }
            return total + (cap.map { min(entry.value, most(Double($0))) } ?? entry.value)
        }
    }

    private static func limit(_ cap: Int?) -> Double { cap.map(Double.init) ?? .infinity }
}

extension WaitingWork {
    /// Counts the work of a queue.
    ///
    /// Delayed and parked jobs do not count: they wait for their time or for another job of their asset, and not for a worker.
    /// Jobs that run count whole, since nobody knows how far they are.
    ///
    /// - Parameters:
    ///   - batches: those that have not ended.
    ///   - usualCost: of a job while none has ended, in milliseconds of a slot.
    public init(
        _ status: QueueStatus, batches: [BatchRecord], caps: [String: Int], usualCap: Int?,
        usualCost: Int
    ) {
        var mean = Double(usualCost) / 1000
        if let spent = status.counters["milliseconds"], let jobs = status.counters["completed"],
            jobs > 0
        {
            mean = Double(spent) / Double(jobs) / 1000
        }
        var parts: [Part] = []
        var membersOut: [String: Int] = [:]
        for batch in batches where !batch.isComplete && batch.cancel == nil {
            membersOut[batch.tenant, default: 0] += max(0, batch.admitted - batch.endedJobs)
            parts.append(
                Part(
                    tenant: batch.tenant, jobs: batch.remaining,
                    seconds: batch.remainingWork.map { $0 / .seconds(1) }
                        ?? Double(batch.remaining) * mean,
                    cap: batch.cap))
        }
        // Ready members are counted with their batch.
        var ready: [String: Int] = [:]
        for flow in status.flows { ready[flow.tenant, default: 0] += flow.ready }
        var single = 0
        for (tenant, jobs) in ready.sorted(by: { $0.key < $1.key }) {
            let jobs = max(0, jobs - membersOut[tenant, default: 0])
            guard jobs > 0 else { continue }
            single += jobs
            parts.append(Part(tenant: tenant, jobs: jobs, seconds: Double(jobs) * mean))
        }
        let open = status.incoming + status.ready + status.active
        let others = open - membersOut.values.reduce(0, +) - single
        if others > 0 {
            parts.append(Part(tenant: nil, jobs: others, seconds: Double(others) * mean))
        }
        self.init(parts: parts, caps: caps, usualCap: usualCap, isPaused: status.paused != nil)
    }
}
