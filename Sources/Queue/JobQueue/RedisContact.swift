/// The time since which a worker's heartbeats have reached Redis without a gap in which a worker may have lost a lease.
///
/// A worker reaps lost leases only after a whole lease without such a gap. After an outage of Redis, or after the machine stood
/// still, every other live worker has then had the time to renew its leases.
struct RedisContact: Sendable {
    /// The shortest gap between two beats, as a fraction of a lease, in which a lease can expire: a lease was renewed at most a
    /// third of its length before the last beat.
    static let gapMax = 2.0 / 3

    private var since: ContinuousClock.Instant?
    private var last: ContinuousClock.Instant?

    /// Records a beat that reached Redis; `start` is the time at which it was sent.
    mutating func reach(at start: ContinuousClock.Instant, lease: Duration) {
        let isGap = last.map { start - $0 > lease * Self.gapMax } ?? true
        if isGap { since = start }
        last = start
    }

    /// Returns whether there was no gap for a whole lease.
    func hasLasted(lease: Duration, at now: ContinuousClock.Instant) -> Bool {
        guard let since, let last else { return false }
        return now - since >= lease && now - last <= lease * Self.gapMax
    }
}
