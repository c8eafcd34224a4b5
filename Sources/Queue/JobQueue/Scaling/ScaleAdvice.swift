import Redis

/// The number of workers that a queue's work needs, with the reason.
///
///     workers = work possible within the time ÷ (the time × working slots of a worker), rounded up
///
/// The number is limited by the jobs that can run at the same time, and by the range of the target. Memory counts through the
/// slots: if a worker's jobs wait for memory, only its slots that have memory count (``workingSlots(of:)``).
public struct ScaleAdvice: Sendable, Equatable, Codable {
    /// The rule that determined the number.
    public enum Reason: String, Sendable, Codable, CaseIterable {
        /// No work waits.
        case idle
        /// Claims are paused: more workers would do nothing.
        case paused
        /// Nothing may be claimed, and workers died: what they held has to be taken back, or published.
        case abandoned
        /// The work divided by the time.
        case work
        /// No more jobs can run at the same time.
        case concurrency
        /// The target's minimum.
        case atLeast
        /// The target's maximum: the work takes longer than it should.
        case atMost
        /// Fewer workers would suffice now, but it is too early to stop some.
        case steady
    }

    /// The number of workers that should run.
    public internal(set) var workers: Int
    public internal(set) var reason: Reason
    /// The number of workers that sent a heartbeat recently.
    public let running: Int
    /// The work that can be done within the time, in seconds of a slot.
    public let workSeconds: Double
    /// The jobs that are not done, except those that wait for a time beyond the target's.
    public let jobs: Int
    /// The number of working slots of one worker.
    public let slotsPerWorker: Double
    /// The time that the running workers need for that work, in seconds; nil if no worker runs.
    public let drainSeconds: Double?
    /// The target time for that work, in seconds.
    public let within: Int

    public init(_ work: WaitingWork, workers running: [WorkerInfo], _ target: ScaleTarget) {
        let slots =
            running.isEmpty
            ? Double(max(1, target.slots))
            : running.reduce(0) { $0 + Double(Self.workingSlots(of: $1)) } / Double(running.count)
        let seconds = work.seconds(within: .seconds(target.within))
        let jobs = work.parts.reduce(0) { $0 + $1.jobs }
        self.running = running.count
        workSeconds = seconds
        self.jobs = jobs
        slotsPerWorker = slots
        drainSeconds =
            running.isEmpty
            ? nil
            : work.span(within: .seconds(target.within), slots: slots * Double(running.count))
        within = target.within
        func count(_ amount: Double, _ each: Double) -> Int {
            Int(min((amount / each).rounded(.up), Double(ScaleTarget.workersMax)))
        }
        let byWork = count(seconds, Double(target.within) * slots)
        let byJobs = count(Double(work.concurrency), slots)
        (workers, reason) =
            if work.isPaused || byWork == 0, work.abandoned > 0 {
                (1, .abandoned)
            } else if work.isPaused {
                (0, .paused)
            } else if byWork == 0 {
                (0, .idle)
            } else if byJobs < byWork {
                (byJobs, .concurrency)
            } else {
                (byWork, .work)
            }
        if workers < target.minWorkers { (workers, reason) = (target.minWorkers, .atLeast) }
        if workers > target.maxWorkers { (workers, reason) = (target.maxWorkers, .atMost) }
    }

    /// Returns the number of a worker's slots that have memory for a job: all slots while no job of the worker waits for memory.
    public static func workingSlots(of worker: WorkerInfo) -> Int {
        guard let waiting = worker.memory?.waiting, waiting > 0 else { return max(1, worker.slots) }
        return max(1, min(worker.busy, worker.slots) - waiting)
    }
}

/// The target time for a queue's work, and the range of the number of workers.
public struct ScaleTarget: Sendable, Hashable, Codable {
    /// The time within which the waiting work should be done, in seconds.
    public var within = 600
    public var minWorkers = 1
    public var maxWorkers = 100
    /// The assumed slots of a worker while no worker runs that reports its slots.
    public var slots = 2

    public static let withinRange = 1...86_400
    public static let workersMax = 10_000
    public static let slotsMax = 1024

    public init() {}
}

/// Smooths the advice: the number of workers rises at once, and falls only if no advice of the last minutes asked for more.
///
/// So a worker that was just started for a burst is not stopped between two bursts, and one reading of an empty queue stops no
/// worker.
public struct ScaleHistory: Sendable {
    /// The time for which workers are kept after they were last needed.
    public let keep: Duration
    /// The requested numbers, the newest last, each smaller than the one before: an older and smaller number never matters.
    private var wishes: [(at: ContinuousClock.Instant, workers: Int)] = []

    /// The default time, the same as that of Kubernetes' autoscaler.
    public static let keepUsual: Duration = .seconds(300)

    public init(keep: Duration = keepUsual) { self.keep = keep }

    /// Returns the advice, raised to the highest number that the last minutes needed.
    public mutating func settle(
        _ advice: ScaleAdvice, at time: ContinuousClock.Instant
    ) -> ScaleAdvice {
        wishes.removeAll { time - $0.at > keep || $0.workers <= advice.workers }
        wishes.append((time, advice.workers))
        var settled = advice
        if let most = wishes.first?.workers, most > advice.workers {
            // Workers that were never started need not be kept.
            settled.workers = max(advice.workers, min(most, advice.running))
            if settled.workers > advice.workers { settled.reason = .steady }
        }
        return settled
    }
}

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
    /// The number of jobs whose workers' leases ran out. A pause does not keep workers from these: a version that is being published
    /// is finished.
    public let abandoned: Int

    public init(
        parts: [Part], caps: [String: Int] = [:], usualCap: Int? = nil, isPaused: Bool = false,
        abandoned: Int = 0
    ) {
        self.abandoned = abandoned
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

    /// Returns the time in seconds that so many slots need for that work: at least as long as the slowest part or tenant takes with as many of
    /// its jobs at a time as there are, and as its limits allow.
    func span(within time: Duration, slots: Double) -> Double {
        let limit = time / .seconds(1)
        var longest = seconds(within: time) / slots
        var byTenant: [String: Double] = [:]
        for part in parts where part.jobs > 0 {
            let seconds = min(part.seconds, Self.limit(part.cap) * limit)
            let atATime = min(Double(part.jobs), Self.limit(part.cap), slots)
            if atATime > 0 { longest = max(longest, seconds / atATime) }
            if let tenant = part.tenant { byTenant[tenant, default: 0] += seconds }
        }
        for (tenant, seconds) in byTenant {
            guard let cap = caps[tenant] ?? usualCap, cap > 0 else { continue }
            longest = max(longest, min(seconds, Double(cap) * limit) / min(Double(cap), slots))
        }
        return longest
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
    /// Delayed jobs count if they are due within the time, because nobody says when they are: a queue without workers would let them
    /// wait for ever. Other delayed jobs and parked ones do not count: they wait for their time or for another job of their asset, not
    /// for a worker. Running jobs count whole, because their progress is not known.
    ///
    /// - Parameters:
    ///   - batches: The batches that have not ended.
    ///   - due: The number of delayed jobs that are due within the time.
    ///   - single: The number of single jobs that have not ended, where the flows of the status are not all; 0 where they are.
    ///   - meanCost: The average cost of a render, in milliseconds of a slot.
    public init(
        _ status: QueueStatus, batches: [BatchRecord], due: Int, single all: Int = 0,
        caps: [String: Int], usualCap: Int?, meanCost: Double
    ) {
        let mean = meanCost / 1000
        var parts: [Part] = []
        var membersOut: [String: Int] = [:]
        for batch in batches where !batch.isComplete && batch.cancel == nil {
            membersOut[batch.tenant, default: 0] += max(0, batch.admitted - batch.endedJobs)
            // Members that are not sent yet are no work.
            let share = Double(batch.waiting) / Double(max(1, batch.remaining))
            parts.append(
                Part(
                    tenant: batch.tenant, jobs: batch.waiting,
                    seconds: batch.remainingWork.map { $0 / .seconds(1) * share }
                        ?? Double(batch.waiting) * mean,
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
        // Members that are parked or delayed are in no count of these; they must not hide what is announced or due.
        let open = status[.ready] + status[.active]
        let listed = open - membersOut.values.reduce(0, +)
        let others = max(0, max(listed, all) - single) + status[.incoming] + due
        if others > 0 {
            parts.append(Part(tenant: nil, jobs: others, seconds: Double(others) * mean))
        }
        self.init(
            parts: parts, caps: caps, usualCap: usualCap, isPaused: status.paused != nil,
            abandoned: status.overdue.leases)
    }
}

extension JobQueue {
    /// Returns the number of workers that the present work needs.
    ///
    /// - Parameter status: The status of the queue, if the caller has just read it.
    public func scaleAdvice(
        _ target: ScaleTarget, from status: QueueStatus? = nil
    ) async throws(QueueError) -> ScaleAdvice {
        let now: QueueStatus
        if let status { now = status } else { now = try await self.status() }
        return ScaleAdvice(
            try await waitingWork(now, within: .seconds(target.within)), workers: now.workers,
            target)
    }

    func waitingWork(
        _ status: QueueStatus, within time: Duration
    ) async throws(QueueError) -> WaitingWork {
        let batches = try await openBatches()
        let rules = try await tenantRules()
        // Beyond the flows that a status lists, single jobs are known by their number.
        let isCut = status.flows.count >= QueueStatus.flowsMax
        let single = isCut ? try await send("HGET", name.keys.virtual, "aheadJobs").string : nil
        return WaitingWork(
            status, batches: batches, due: try await delayed(within: time),
            single: single.flatMap { Int($0) } ?? 0,
            caps: rules.compactMapValues(\.cap),
            usualCap: try await usualCap(),
            meanCost: try await meanCost() ?? Double(settings.usualCost))
    }
}
