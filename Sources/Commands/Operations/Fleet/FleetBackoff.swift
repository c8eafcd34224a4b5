/// The delay before a fleet replaces a worker that ended by itself.
package struct FleetBackoff {
    /// The running time after which the end of a worker was not caused by its start.
    package static let soundAfter: Duration = .seconds(60)
    package static let first: Duration = .seconds(1)
    package static let longest: Duration = .seconds(60)

    private var wait: Duration = .zero
    package private(set) var until: ContinuousClock.Instant?

    package init() {}

    /// Records the end of a worker that the fleet had not stopped.
    package mutating func note(after time: Duration, at now: ContinuousClock.Instant) {
        wait = time >= Self.soundAfter ? Self.first : min(max(wait * 2, Self.first), Self.longest)
        until = now + wait
    }

    /// Returns whether workers may be started.
    package func isOver(at now: ContinuousClock.Instant) -> Bool { until.map { $0 <= now } ?? true }
}
