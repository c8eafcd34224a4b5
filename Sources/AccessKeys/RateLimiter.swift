import Synchronization

/// A token bucket per caller: an id of a key, an address.
///
/// Each gateway has its own buckets, so with two gateways a caller gets up to twice as much.
package final class RateLimiter: Sendable {
    /// Most callers that have a bucket at a time: as many as there can be keys.
    package static let bucketsMax = KeyStore.keysMax

    /// The shortest time between two looks for idle callers: each visits all buckets.
    static let sweepInterval = Duration.seconds(1)

    private let name: String
    private let bucketsMax: Int
    private let uptime: @Sendable () -> Duration
    private let state = Mutex(State())

    private struct State {
        var buckets: [String: TokenBucket] = [:]
        /// The bucket of callers that came when there was no room for one of their own.
        var shared: TokenBucket?
        /// When full buckets were dropped last.
        var sweptAt: Duration?
    }

    /// - Parameters:
    ///   - name: the limit's name in the fields, letters only.
    ///   - uptime: the time since any moment that stays the same.
    package init(
        name: String, bucketsMax: Int = RateLimiter.bucketsMax,
        uptime: @escaping @Sendable () -> Duration = RateLimiter.sinceStart()
    ) {
        self.name = name
        self.bucketsMax = bucketsMax
        self.uptime = uptime
    }

    /// The time since now, from now on.
    package static func sinceStart() -> @Sendable () -> Duration {
        let start = ContinuousClock.now
        return { ContinuousClock.now - start }
    }

    /// Takes requests out of a caller's bucket.
    ///
    /// - Parameters:
    ///   - rate: requests a second, in the long run; a bucket of another rate or burst is made anew.
    ///   - burst: requests at once.
    package func take(
        _ count: Int = 1, for caller: String, rate: Int, burst: Int
    ) -> RateLimitAnswer {
        let now = uptime()
        return state.withLock { state in
            let fresh = TokenBucket(rate: rate, burst: burst, at: now)
            makeRoom(for: caller, &state, now)
            let isShared = state.buckets[caller] == nil && state.buckets.count >= bucketsMax
            var bucket = (isShared ? state.shared : state.buckets[caller]) ?? fresh
            if bucket.rate != fresh.rate || bucket.burst != fresh.burst { bucket = fresh }
            let isAllowed = bucket.take(count, at: now)
            if isShared { state.shared = bucket } else { state.buckets[caller] = bucket }
            return RateLimitAnswer(
                name: name, isAllowed: isAllowed, quota: Int(bucket.burst),
                windowSeconds: max(1, Int((bucket.burst / bucket.rate).rounded(.up))),
                remaining: bucket.remaining(at: now),
                resetSeconds: bucket.secondsUntil(.max, at: now),
                retryAfterSeconds: isAllowed ? nil : max(1, bucket.secondsUntil(count, at: now)))
        }
    }

    /// How many callers have a bucket.
    var bucketsCount: Int { state.withLock { $0.buckets.count } }

    /// Drops the buckets that are full, when a new caller comes and all places are taken; not for each of a flood of them.
    private func makeRoom(for caller: String, _ state: inout State, _ now: Duration) {
        guard state.buckets[caller] == nil, state.buckets.count >= bucketsMax,
            state.sweptAt.map({ now - $0 >= Self.sweepInterval }) ?? true
        else { return }
        state.sweptAt = now
        state.buckets = state.buckets.filter { !$0.value.isFull(at: now) }
    }
}
