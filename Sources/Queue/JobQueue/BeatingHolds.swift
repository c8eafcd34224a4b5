/// The holds that a heartbeat keeps alive, each with the time until which its lease is trusted.
struct BeatingHolds: Sendable {
    /// One hold.
    struct Hold: Sendable {
        let logged: LoggedJob?
        /// The time at which the heartbeat began to renew the lease.
        let began: ContinuousClock.Instant
        var trustedUntil: ContinuousClock.Instant
        /// Whether a heartbeat has reached Redis since the claim.
        var isConfirmed = false
        let stage: @Sendable () -> String?
        let progress: @Sendable () -> JobProgress?
        let end: @Sendable (HoldEnd) -> Void
    }

    private(set) var all: [HoldID: Hold] = [:]
    /// Lost holds for which Redis has not yet received a pardon, the report that their worker is alive.
    private(set) var unreported: Set<HoldID> = []

    /// Adds a hold.
    mutating func add(_ id: HoldID, _ hold: Hold) { all[id] = hold }

    /// Removes a hold that its worker has finished.
    mutating func remove(_ id: HoldID) { all[id] = nil }

    /// Records that Redis has renewed a lease.
    mutating func renew(_ id: HoldID, until end: ContinuousClock.Instant) {
        all[id]?.trustedUntil = end
        all[id]?.isConfirmed = true
    }

    /// Removes a lost hold. Returns nil if the hold was removed meanwhile.
    mutating func lose(_ id: HoldID) -> Hold? {
        guard let lost = all.removeValue(forKey: id) else { return nil }
        unreported.insert(id)
        return lost
    }

    /// Records that Redis has received the pardons of these lost holds.
    mutating func removeReported(_ ids: [HoldID]) { unreported.subtract(ids) }

    /// Returns the holds whose leases must not be trusted any more.
    func untrusted(at now: ContinuousClock.Instant) -> [HoldID] {
        all.filter { $0.value.trustedUntil <= now }.map(\.key)
    }

    /// The time at which the first trusted lease ends if no heartbeat renews it.
    var nextEnd: ContinuousClock.Instant? { all.values.map(\.trustedUntil).min() }

    /// Returns whether an unconfirmed claim has reached this age.
    func hasUnconfirmed(for age: Duration, at now: ContinuousClock.Instant) -> Bool {
        all.values.contains { !$0.isConfirmed && now - $0.began >= age }
    }
}
