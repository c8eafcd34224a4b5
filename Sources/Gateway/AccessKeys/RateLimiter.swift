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

    /// The number of callers with a bucket.
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
