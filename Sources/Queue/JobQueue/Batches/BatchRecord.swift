public import Edits

/// The record of one batch in Redis.
public struct BatchRecord: Sendable, Codable, Equatable {
    public let batch: String
    public let tenant: String
    /// The folder of the key that opened it, and of its members' assets; nil for a batch that no key opened.
    public let folder: String?
    public let priority: String
    /// The time at which it was opened, ms since 1970.
    public let opened: Int
    /// The number of its jobs; nil until it is sealed.
    public let sealed: Int?
    /// The reason why a worker sealed it, if its producer did not.
    public let sealedBecause: String?
    /// The number of entries that have left its stream as jobs.
    public let admitted: Int
    /// The number of entries of its stream that are not yet jobs.
    public let lane: Int
    /// The number of jobs that succeeded.
    public let done: Int
    /// The number of jobs that failed permanently.
    public let dead: Int
    /// The number of jobs that were cancelled.
    public let cancelled: Int
    /// The number of times it was completed and then reopened by a replay, plus one.
    public let generation: Int
    /// The time at which it was completed, ms since 1970; nil while some of its jobs have not ended.
    public let ended: Int?
    /// The reason of its cancellation.
    public let cancel: String?
    /// The maximum number of its jobs that may run or be ready at the same time, if it has a limit of its own.
    public let cap: Int?
    /// The total time for which workers held its jobs.
    public let milliseconds: Int
    /// The stated cost of all its jobs, in milliseconds of one slot.
    public let costTotal: Int?
    /// The stated cost of the jobs that have ended.
    public let costEnded: Int
    /// The time at which this record was read, ms since 1970, by Redis' clock.
    public let now: Int
    /// The cost of its last renders; not part of the record's JSON.
    var renders = Renders()
    /// The maximum number of running jobs of its tenant when it was read; nil for no limit. Not part of the record's JSON.
    var tenantCap: Int?

    /// The cost of renders, as `Scripts/Shared/parts.lua` counts them: jobs that rendered nothing are left out.
    struct Renders: Sendable, Equatable {
        var jobs = 0
        /// The time for which workers held them.
        var milliseconds = 0
        /// Their stated costs.
        var stated = 0
    }

    enum CodingKeys: String, CodingKey {
        case batch, tenant, folder, priority, opened, sealed, sealedBecause, admitted, lane, done,
            dead
        case cancelled, generation, ended, cancel, cap, milliseconds, costTotal, costEnded, now
    }

    /// Returns whether the batch is one of a caller's own.
    public func isWithin(_ reach: Reach) -> Bool {
        reach.covers(batch: batch, tenant: tenant, folder: folder)
    }

    /// The number of its jobs, as far as is known.
    public var jobs: Int { sealed ?? admitted + lane }
    /// The number of jobs that have ended.
    public var endedJobs: Int { done + dead + cancelled }
    /// The number of jobs that have not ended.
    public var remaining: Int { max(0, jobs - endedJobs) }
    /// The number of jobs that have arrived and not ended; of a batch that was sealed early, others are still to be sent.
    public var waiting: Int { max(0, min(jobs, admitted + lane) - endedJobs) }
    /// Whether all jobs have ended.
    public var isComplete: Bool { ended != nil }

    /// The average time for which a worker held one of its last jobs that rendered something, in milliseconds.
    public var meanCost: Double? {
        renders.jobs > 0 ? Double(renders.milliseconds) / Double(renders.jobs) : nil
    }

    /// The number of jobs that ended per second since it was opened; the first second counts as a whole one.
    public var rate: Double {
        Double(endedJobs) / max(Double((ended ?? now) - opened) / 1000, 1)
    }

    /// Returns the time that the remaining jobs take if workers do nothing else; nil while no cost is known, or its tenant is paused. No more
    /// of them run at a time than there are, nor than the caps of the batch and its tenant allow.
    ///
    /// - Parameter slots: The number of slots of all workers.
    public func remainingTime(slots: Int) -> Duration? {
        guard remaining > 0 else { return .zero }
        guard slots > 0, meanCost != nil, tenantCap != 0 else { return nil }
        let atATime = max(1, min(slots, remaining, cap ?? slots, tenantCap ?? slots))
        return remainingWork.map { $0 / atATime }
    }

    /// The time that one slot needs for the remaining jobs; nil while no cost is known.
    ///
    /// It is computed from the stated costs, corrected by the ratio of real to stated cost so far; without stated costs, from the
    /// average real cost.
    public var remainingWork: Duration? {
        guard remaining > 0 else { return .zero }
        var left: Double
        if let costTotal, costTotal > costEnded, costEnded > 0 || meanCost == nil {
            left = Double(costTotal - costEnded)
            if renders.stated > 0 {
                left *= Double(renders.milliseconds) / Double(renders.stated)
            }
        } else if let meanCost {
            left = Double(remaining) * meanCost
        } else {
            return nil
        }
        // At most one day of a million slots, because the costs that producers state have no limit of their own.
        return .milliseconds(Int64(min(left, 86_400_000.0 * 1_000_000)))
    }
}

extension BatchRecord {
    /// Decodes the hash of a batch; nil if the hash is not a batch.
    init?(_ batch: String, _ fields: [String: String], lane: Int, now: Int) {
        func number(_ name: String) -> Int? { fields[name].flatMap { Int($0) } }
        guard let tenant = fields["tenant"], let opened = number("opened") else { return nil }
        self.init(
            batch: batch, tenant: tenant, folder: fields["folder"],
            priority: fields["priority"] ?? "bulk", opened: opened,
            sealed: number("sealed"), sealedBecause: fields["sealedBecause"],
            admitted: number("admitted") ?? 0, lane: lane,
            done: number("done") ?? 0, dead: number("dead") ?? 0,
            cancelled: number("cancelled") ?? 0, generation: number("generation") ?? 1,
            ended: number("ended"), cancel: fields["cancel"], cap: number("cap"),
            milliseconds: number("milliseconds") ?? 0, costTotal: number("costTotal"),
            costEnded: number("costEnded") ?? 0, now: now,
            renders: Renders(
                jobs: number("costJobs") ?? 0, milliseconds: number("costMs") ?? 0,
                stated: number("costStated") ?? 0))
    }
}
