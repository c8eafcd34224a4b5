/// A token bucket: a long-term rate per second, and a maximum burst after a pause.
///
/// A pure value: the caller passes the time, as the time since any fixed moment.
package struct TokenBucket: Sendable, Equatable {
    /// The number of tokens added per second.
    package let rate: Double
    /// The maximum number of tokens.
    package let burst: Double
    private var tokens: Double
    private var updated: Duration

    /// Creates a full bucket. Arguments below 1 are treated as 1.
    package init(rate: Int, burst: Int, at now: Duration) {
        self.rate = Double(max(1, rate))
        self.burst = Double(max(1, burst))
        tokens = self.burst
        updated = now
    }

    /// Consumes tokens, or none if there are too few.
    package mutating func consume(_ count: Int = 1, at now: Duration) -> Bool {
        refill(at: now)
        guard tokens >= Double(count) else { return false }
        tokens -= Double(count)
        return true
    }

    /// Returns the number of available whole tokens.
    package func remaining(at now: Duration) -> Int { Int(available(at: now)) }

    /// Returns the time until a number of tokens is available, in seconds, rounded up; 0 if they are available.
    package func secondsUntil(_ count: Int, at now: Duration) -> Int {
        Int((max(0, min(Double(count), burst) - available(at: now)) / rate).rounded(.up))
    }

    /// Returns whether the bucket equals a new one, so that it can be dropped without loss.
    package func isFull(at now: Duration) -> Bool { available(at: now) >= burst }

    private mutating func refill(at now: Duration) {
        tokens = available(at: now)
        updated = max(updated, now)
    }

    /// A clock that moved backwards adds no tokens.
    private func available(at now: Duration) -> Double {
        min(burst, tokens + max(0, (now - updated) / .seconds(1)) * rate)
    }
}
