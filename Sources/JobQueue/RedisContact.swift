/// Since when a worker's heartbeats reach Redis without a gap in which somebody may have lost a lease.
///
/// A worker takes back lost leases only after a whole lease without such a gap. After an outage of Redis, or after the
/// machine stood still, every other worker then has had the time to say that it lives.
struct RedisContact: Sendable {
    /// The shortest gap between two beats, as a part of a lease, in which a lease can run out: a lease was renewed a
    /// third of its length before the last beat at the latest.
    static let gapMax = 2.0 / 3

    private var since: ContinuousClock.Instant?
    private var last: ContinuousClock.Instant?

    /// Notes a beat that reached Redis; `start` is when it was sent.
    mutating func reach(at start: ContinuousClock.Instant, lease: Duration) {
        let isGap = last.map { start - $0 > lease * Self.gapMax } ?? true
        if isGap { since = start }
        last = start
    }

    /// Whether there was no gap for a whole lease.
    func hasLasted(lease: Duration, at now: ContinuousClock.Instant) -> Bool {
        guard let since, let last else { return false }
        return now - since >= lease && now - last <= lease * Self.gapMax
    }
}
