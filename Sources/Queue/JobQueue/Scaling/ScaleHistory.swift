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
