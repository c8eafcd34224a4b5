import Synchronization

/// A token bucket per caller, which is identified by the id of a key or an address.
///
/// Each gateway has its own buckets, so with two gateways the limit of a caller is up to twice as high.
package final class RateLimiter: Sendable {
    /// The maximum number of callers with a bucket: the maximum number of keys.
    package static let bucketsMax = KeyStore.keysMax

    /// The minimum interval between two searches for idle callers, each of which visits all buckets.
    static let sweepInterval = Duration.seconds(1)

    private let name: String
    private let bucketsMax: Int
    private let uptime: @Sendable () -> Duration
    private let state = Mutex(State())

    private struct State {
        var buckets: [String: TokenBucket] = [:]
        /// The bucket shared by callers that arrived when there was no room for a bucket of their own.
        var shared: TokenBucket?
        /// The time at which full buckets were last dropped.
        var sweptAt: Duration?
    }

    /// - Parameters:
    ///   - name: The name of the limit in the fields, letters only.
    ///   - uptime: Returns the time since any fixed moment.
    package init(
        name: String, bucketsMax: Int = RateLimiter.bucketsMax,
        uptime: @escaping @Sendable () -> Duration = RateLimiter.sinceStart()
    ) {
        self.name = name
        self.bucketsMax = bucketsMax
        self.uptime = uptime
    }

    /// Returns a clock that measures the time since this call.
    package static func sinceStart() -> @Sendable () -> Duration {
        let start = ContinuousClock.now
        return { ContinuousClock.now - start }
    }

    /// Consumes tokens of a caller's bucket, one for each request.
    ///
    /// - Parameters:
    ///   - rate: The long-term rate of requests per second; a bucket with another rate or burst is replaced.
    ///   - burst: The maximum number of simultaneous requests.
    package func consume(
        _ count: Int = 1, for caller: String, rate: Int, burst: Int
    ) -> RateLimitAnswer {
        let now = uptime()
        return state.withLock { state in
            let fresh = TokenBucket(rate: rate, burst: burst, at: now)
            makeRoom(for: caller, &state, now)
            let isShared = state.buckets[caller] == nil && state.buckets.count >= bucketsMax
            var bucket = (isShared ? state.shared : state.buckets[caller]) ?? fresh
            if bucket.rate != fresh.rate || bucket.burst != fresh.burst { bucket = fresh }
            let isAllowed = bucket.consume(count, at: now)
            if isShared { state.shared = bucket } else { state.buckets[caller] = bucket }
            return RateLimitAnswer(
                name: name, isAllowed: isAllowed, quota: Int(bucket.burst),
                windowSeconds: max(1, Int((bucket.burst / bucket.rate).rounded(.up))),
                remaining: bucket.remaining(at: now),
                resetSeconds: bucket.secondsUntil(.max, at: now),
                retryAfterSeconds: isAllowed ? nil : max(1, bucket.secondsUntil(count, at: now)))
        }
    }

    var bucketsCount: Int { state.withLock { $0.buckets.count } }

    /// Drops full buckets if a new caller arrives and there is no room. A flood of new callers does not repeat this for each of
    /// them.
    private func makeRoom(for caller: String, _ state: inout State, _ now: Duration) {
        guard state.buckets[caller] == nil, state.buckets.count >= bucketsMax,
            state.sweptAt.map({ now - $0 >= Self.sweepInterval }) ?? true
        else { return }
        state.sweptAt = now
        state.buckets = state.buckets.filter { !$0.value.isFull(at: now) }
    }
}

/// The decision about a request under a rate limit, and the numbers for the fields of its response.
///
/// Source of the fields: draft-ietf-httpapi-ratelimit-headers-11.
package struct RateLimitAnswer: Sendable, Equatable {
    /// The name of the limit, as quoted in the fields: letters only.
    package let name: String
    package let isAllowed: Bool
    /// The number of simultaneous requests after a pause: `q`.
    package let quota: Int
    /// The time in which an empty bucket fills, in seconds: `w`.
    package let windowSeconds: Int
    /// The number of remaining requests: `r`.
    package let remaining: Int
    /// The time until the whole quota is available again, in seconds: `t`.
    package let resetSeconds: Int
    /// The time until the refused request may be repeated, in seconds; nil if it was allowed.
    package let retryAfterSeconds: Int?

    /// `"requests";q=20;w=2`.
    package var policyField: String { "\"\(name)\";q=\(quota);w=\(windowSeconds)" }
    /// `"requests";r=19;t=1`.
    package var field: String { "\"\(name)\";r=\(remaining);t=\(resetSeconds)" }

    /// The fields of the response: `RateLimit-Policy`, `RateLimit`, and `Retry-After` for a refused request.
    package var headers: [(name: String, value: String)] {
        [("RateLimit-Policy", policyField), ("RateLimit", field)]
            + (retryAfterSeconds.map { [("Retry-After", "\($0)")] } ?? [])
    }
}

/// A token bucket: a long-term rate per second, and a maximum burst after a pause.
///
/// A pure value: the caller passes the time, as the time since any fixed moment.
package struct TokenBucket: Sendable, Equatable {
    /// The number of tokens added per second.
    package let rate: Double
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
