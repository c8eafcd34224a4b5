/// What Redis knows about one batch.
public struct BatchRecord: Sendable, Codable, Equatable {
    /// The batch.
    public let batch: String
    /// Who asked for it.
    public let tenant: String
    /// How urgent it is.
    public let priority: String
    /// When it was opened, ms since 1970.
    public let opened: Int
    /// How many jobs it has; nil until it is sealed.
    public let sealed: Int?
    /// Why workers sealed it, if its producer did not.
    public let sealedBecause: String?
    /// Entries that have left its lane as jobs.
    public let admitted: Int
    /// Entries of its lane that are not yet jobs.
    public let lane: Int
    /// Jobs that ended well.
    public let done: Int
    /// Jobs that failed for good.
    public let dead: Int
    /// Jobs that were cancelled.
    public let cancelled: Int
    /// How often it ended and was opened again by a replay, plus one.
    public let generation: Int
    /// When it ended, ms since 1970; nil while jobs of it are open.
    public let ended: Int?
    /// Why it was cancelled.
    public let cancel: String?
    /// How many of its jobs may run or wait to run at the same time, if it has a limit of its own.
    public let cap: Int?
    /// How long workers held its jobs, all together.
    public let milliseconds: Int
    /// What all its jobs were said to cost, in milliseconds of one slot.
    public let costTotal: Int?
    /// What those that have ended were said to cost.
    public let costEnded: Int
    /// When this was read, ms since 1970, by Redis' clock.
    public let now: Int

    /// How many jobs it has, as far as is known.
    public var jobs: Int { sealed ?? admitted + lane }
    /// Jobs that have ended.
    public var endedJobs: Int { done + dead + cancelled }
    /// Jobs that have not.
    public var remaining: Int { max(0, jobs - endedJobs) }
    /// Whether all have ended.
    public var isComplete: Bool { ended != nil }

    /// How long a worker held a job of it, on average, in milliseconds.
    public var meanCost: Double? { done > 0 ? Double(milliseconds) / Double(done) : nil }

    /// Jobs that ended per second since it was opened; the first second counts as a whole one.
    public var rate: Double {
        Double(endedJobs) / max(Double((ended ?? now) - opened) / 1000, 1)
    }

    /// How long the rest takes if workers do nothing else; nil while nothing is known of it.
    ///
    /// - Parameter slots: of all workers.
    public func remainingTime(slots: Int) -> Duration? {
        guard remaining > 0 else { return .zero }
        guard slots > 0, meanCost != nil else { return nil }
        return remainingWork.map { $0 / slots }
    }

    /// How long one slot takes for the rest; nil while nothing is known of it.
    ///
    /// By what its jobs were said to cost, set right by how far that was from the truth so far; else by what they cost on
    /// average.
    public var remainingWork: Duration? {
        guard remaining > 0 else { return .zero }
        var left: Double
        if let costTotal, costTotal > costEnded, costEnded > 0 || meanCost == nil {
            left = Double(costTotal - costEnded)
            if costEnded > 0 { left *= Double(milliseconds) / Double(costEnded) }
        } else if let meanCost {
            left = Double(remaining) * meanCost
        } else {
            return nil
        }
        // A day of a million slots: what producers say has no limit of its own.
        return .milliseconds(Int64(min(left, 86_400_000.0 * 1_000_000)))
    }
}

extension BatchRecord {
    /// Reads the hash of a batch; nil when it is none.
    init?(_ batch: String, _ fields: [String: String], lane: Int, now: Int) {
        func number(_ name: String) -> Int? { fields[name].flatMap { Int($0) } }
        guard let tenant = fields["tenant"], let opened = number("opened") else { return nil }
        self.init(
            batch: batch, tenant: tenant, priority: fields["priority"] ?? "bulk", opened: opened,
            sealed: number("sealed"), sealedBecause: fields["sealedBecause"],
            admitted: number("admitted") ?? 0, lane: lane,
            done: number("done") ?? 0, dead: number("dead") ?? 0,
            cancelled: number("cancelled") ?? 0, generation: number("generation") ?? 1,
            ended: number("ended"), cancel: fields["cancel"], cap: number("cap"),
            milliseconds: number("milliseconds") ?? 0, costTotal: number("costTotal"),
            costEnded: number("costEnded") ?? 0, now: now)
    }
}
