/// A token bucket: so many a second in the long run, and so many at once after a quiet time.
///
/// A pure value: the caller says what time it is, as the time since any moment that stays the same.
package struct TokenBucket: Sendable, Equatable {
    /// Tokens a second.
    package let rate: Double
    /// Most tokens that it holds.
    package let burst: Double
    private var tokens: Double
    private var updated: Duration

    /// A full bucket. Numbers below 1 are taken as 1.
    package init(rate: Int, burst: Int, at now: Duration) {
        self.rate = Double(max(1, rate))
        self.burst = Double(max(1, burst))
        tokens = self.burst
        updated = now
    }

    /// Takes tokens, or none when there are too few.
    package mutating func take(_ count: Int = 1, at now: Duration) -> Bool {
        refill(at: now)
        guard tokens >= Double(count) else { return false }
        tokens -= Double(count)
        return true
    }

    /// Whole tokens that are there.
    package func remaining(at now: Duration) -> Int { Int(held(at: now)) }

    /// Seconds until so many tokens are there, rounded up; 0 when they are.
    package func secondsUntil(_ count: Int, at now: Duration) -> Int {
        Int((max(0, min(Double(count), burst) - held(at: now)) / rate).rounded(.up))
    }

    /// Whether nothing would be lost if the bucket were made anew.
    package func isFull(at now: Duration) -> Bool { held(at: now) >= burst }

    private mutating func refill(at now: Duration) {
        tokens = held(at: now)
        updated = max(updated, now)
    }

    /// A clock that went back gives nothing.
    private func held(at now: Duration) -> Double {
        min(burst, tokens + max(0, (now - updated) / .seconds(1)) * rate)
    }
}
