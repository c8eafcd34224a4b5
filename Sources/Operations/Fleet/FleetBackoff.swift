/// How long a fleet waits before it starts a worker in the place of one that ended by itself.
package struct FleetBackoff {
    /// A worker that ran so long did not end because of how it was started.
    package static let soundAfter: Duration = .seconds(60)
    package static let first: Duration = .seconds(1)
    package static let longest: Duration = .seconds(60)

    private var wait: Duration = .zero
    package private(set) var until: ContinuousClock.Instant?

    package init() {}

    /// A worker ended that nobody had stopped.
    package mutating func note(after time: Duration, at now: ContinuousClock.Instant) {
        wait = time >= Self.soundAfter ? Self.first : min(max(wait * 2, Self.first), Self.longest)
        until = now + wait
    }

    /// Whether workers may be started.
    package func isOver(at now: ContinuousClock.Instant) -> Bool { until.map { $0 <= now } ?? true }
}
