/// The holds that a heartbeat keeps alive, each with the time until which its lease is trusted.
struct BeatingHolds: Sendable {
    /// One hold.
    struct Hold: Sendable {
        let logged: LoggedJob?
        /// When the heartbeat began to keep it.
        let began: ContinuousClock.Instant
        var trustedUntil: ContinuousClock.Instant
        /// Whether a beat has reached Redis since the claim.
        var isConfirmed = false
        let stage: @Sendable () -> String?
        let progress: @Sendable () -> JobProgress?
        let end: @Sendable (HoldEnd) -> Void
    }

    private(set) var all: [HoldID: Hold] = [:]
    /// Holds that were lost, and Redis has not been told yet that their worker lives.
    private(set) var untold: Set<HoldID> = []

    /// Adds a hold.
    mutating func add(_ id: HoldID, _ hold: Hold) { all[id] = hold }

    /// Removes a hold that its worker has ended.
    mutating func remove(_ id: HoldID) { all[id] = nil }

    /// Notes that Redis has renewed a lease.
    mutating func renew(_ id: HoldID, until end: ContinuousClock.Instant) {
        all[id]?.trustedUntil = end
        all[id]?.isConfirmed = true
    }

    /// Removes a hold that was lost; nil when it was removed meanwhile.
    mutating func lose(_ id: HoldID) -> Hold? {
        guard let lost = all.removeValue(forKey: id) else { return nil }
        untold.insert(id)
        return lost
    }

    /// Notes that Redis knows that the worker of these lost holds lives.
    mutating func tell(_ ids: [HoldID]) { untold.subtract(ids) }

    /// Holds whose leases must not be trusted any more.
    func untrusted(at now: ContinuousClock.Instant) -> [HoldID] {
        all.filter { $0.value.trustedUntil <= now }.map(\.key)
    }

    /// When the next lease ends that nothing renews meanwhile.
    var nextEnd: ContinuousClock.Instant? { all.values.map(\.trustedUntil).min() }

    /// Whether a claim that is so old waits to be confirmed.
    func hasUnconfirmed(for age: Duration, at now: ContinuousClock.Instant) -> Bool {
        all.values.contains { !$0.isConfirmed && now - $0.began >= age }
    }
}
