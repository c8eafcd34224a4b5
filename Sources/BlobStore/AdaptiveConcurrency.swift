/// How many requests may run at one time: half as many when the store asks to slow down.
///
/// Additive increase, multiplicative decrease, as TCP does it; that many clients of one store
/// come to equal shares. Source: Chiu and Jain, "Analysis of the Increase and Decrease Algorithms
/// for Congestion Avoidance", 1989.
struct AdaptiveConcurrency: Sendable, Hashable {
    /// The successes after which one more request may run.
    static let successesPerStep = 100

    /// The most there may ever be.
    let max: Int

    /// The most there may be now; at least 1.
    private(set) var limit: Int

    /// Counts the halvings, so that requests of one burst halve once.
    private(set) var generation = 0

    private var successes = 0

    init(max: Int) {
        precondition(max > 0, "a client that may send nothing")
        self.max = max
        limit = max
    }

    /// A request succeeded.
    mutating func succeeded() {
        guard limit < max else { return }
        successes += 1
        guard successes >= Self.successesPerStep else { return }
        successes = 0
        limit += 1
    }

    /// A request that began in `generation` was told to slow down.
    mutating func toldToSlowDown(in generation: Int) {
        guard generation == self.generation else { return }
        self.generation += 1
        successes = 0
        limit = Swift.max(1, limit / 2)
    }
}
