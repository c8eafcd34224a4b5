/// The number of requests that may run at the same time. It is halved when the store asks to slow
/// down.
///
/// Additive increase, multiplicative decrease, as in TCP: many clients of one store converge to
/// equal shares. Source: Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for
/// Congestion Avoidance", 1989.
struct AdaptiveConcurrency: Sendable, Hashable {
    /// The number of successes after which the limit grows by one.
    static let successesPerStep = 100

    /// The upper bound of the limit.
    let max: Int

    /// The present limit; at least 1.
    private(set) var limit: Int

    /// The number of halvings, by which requests of one burst halve the limit only once.
    private(set) var generation = 0

    private var successes = 0

    init(max: Int) {
        precondition(max > 0, "a client that may send nothing")
        self.max = max
        limit = max
    }

    /// Records a successful request.
    mutating func succeeded() {
        guard limit < max else { return }
        successes += 1
        guard successes >= Self.successesPerStep else { return }
        successes = 0
        limit += 1
    }

    /// Records that the store asked a request to slow down. The request began in `generation`.
    mutating func slowDown(in generation: Int) {
        guard generation == self.generation else { return }
        self.generation += 1
        successes = 0
        limit = Swift.max(1, limit / 2)
    }
}
