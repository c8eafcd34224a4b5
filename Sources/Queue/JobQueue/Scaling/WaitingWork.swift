/// The work of a queue, in seconds of one slot, divided into the parts to which limits apply: each batch, and the single jobs of
/// each tenant.
///
/// Workers measure seconds of a slot: the time for which one of their slots held a job. A slot keeps about one core busy.
public struct WaitingWork: Sendable, Equatable {
    /// Jobs that share a limit.
    public struct Part: Sendable, Equatable {
        /// The tenant; nil for jobs whose tenants are not known.
        public let tenant: String?
        /// The waiting and the running jobs.
        public let jobs: Int
        /// Their cost, in seconds of a slot.
        public let seconds: Double
        /// The maximum number of these jobs that may run at the same time; nil means no limit.
        public let cap: Int?

        public init(tenant: String?, jobs: Int, seconds: Double, cap: Int? = nil) {
            self.tenant = tenant
            self.jobs = jobs
            self.seconds = seconds
            self.cap = cap
        }
    }

    public let parts: [Part]
    /// The maximum number of running jobs by tenant; ``usualCap`` applies to all other tenants.
    public let caps: [String: Int]
    /// The default limit of a tenant; nil means no limit.
    public let usualCap: Int?
    /// Whether claims are paused.
    public let isPaused: Bool

    public init(
        parts: [Part], caps: [String: Int] = [:], usualCap: Int? = nil, isPaused: Bool = false
    ) {
        self.parts = parts
        self.caps = caps
        self.usualCap = usualCap
        self.isPaused = isPaused
    }

    /// Returns the part of the work that its limits allow within a time, in seconds of a slot.
    ///
    /// A limit of n jobs at a time allows n seconds of work per second, whatever the number of workers.
    public func seconds(within time: Duration) -> Double {
        let time = time / .seconds(1)
        return sum(of: { min($0.seconds, Self.limit($0.cap) * time) }) { $0 * time }
    }

    /// The number of jobs that may run at the same time.
    public var concurrency: Int {
        // The sum fits: limits are at most a million each, and jobs are counted in memory.
        Int(sum(of: { min(Double($0.jobs), Self.limit($0.cap)) }) { $0 }.rounded(.up))
    }

    /// - Parameters:
    ///   - value: The value of one part.
    ///   - most: The maximum that a tenant's limit allows.
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
    /// Delayed and parked jobs do not count: they wait for their start time or for another job of their asset, not for a worker.
    /// Running jobs count whole, because their progress is not known.
    ///
    /// - Parameters:
    ///   - batches: The batches that have not ended.
    ///   - meanCost: The average cost of a render, in milliseconds of a slot.
    public init(
        _ status: QueueStatus, batches: [BatchRecord], caps: [String: Int], usualCap: Int?,
        meanCost: Double
    ) {
        let mean = meanCost / 1000
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
