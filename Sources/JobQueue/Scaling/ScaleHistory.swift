/// Keeps advice steady: more workers at once, fewer only when none of the advice of the last minutes asked for more.
///
/// So a worker that was just started for a burst is not stopped between two of them, and a short look at an empty queue
/// stops nobody.
public struct ScaleHistory: Sendable {
    /// How long workers are kept after they were needed last.
    public let keep: Duration
    /// Numbers that were asked for, the newest last, each less than the one before: an older and smaller one never counts.
    private var wishes: [(at: ContinuousClock.Instant, workers: Int)] = []

    /// The time that Kubernetes' autoscaler takes, too.
    public static let keepUsual: Duration = .seconds(300)

    public init(keep: Duration = keepUsual) { self.keep = keep }

    /// The advice, with more workers where some of the last minutes needed them.
    public mutating func settle(
        _ advice: ScaleAdvice, at time: ContinuousClock.Instant
    ) -> ScaleAdvice {
        wishes.removeAll { time - $0.at > keep || $0.workers <= advice.workers }
        wishes.append((time, advice.workers))
        var settled = advice
        if let most = wishes.first?.workers, most > advice.workers {
            // Those that never came need not be kept.
            settled.workers = max(advice.workers, min(most, advice.running))
            if settled.workers > advice.workers { settled.reason = .steady }
        }
        return settled
    }
}
