import Edits

/// The workers of a fleet to start and to stop.
package struct FleetPlan: Equatable {
    package struct Member: Equatable {
        package let number: Int
        /// The number of jobs that it holds; nil before its first heartbeat.
        package let busy: Int?

        package init(number: Int, busy: Int?) {
            self.number = number
            self.busy = busy
        }
    }

    package let start: Int
    package let stop: [Int]

    package init(_ members: [Member], wanted: Int, others: Int, of range: ClosedRange<Int>) {
        let own = min(max(wanted - others, range.lowerBound), range.upperBound)
        start = max(0, own - members.count)
        // Renders are not interrupted: workers that hold jobs are stopped later, when they hold none. The youngest are stopped
        // first, because the caches of the others are warm.
        stop = members.filter { $0.busy == 0 }.map(\.number).sorted(by: >)
            .prefix(max(0, members.count - own)).map(\.self)
    }
}

/// The delay before a fleet replaces a worker that ended by itself.
package struct FleetBackoff {
    /// The running time after which the end of a worker was not caused by its start.
    package static let soundAfter: Duration = .seconds(60)
    private static let waits = Backoff(base: .seconds(1), max: .seconds(60))

    /// The ends soon after a start, one after another.
    private var failures = 0
    package private(set) var until: ContinuousClock.Instant?

    package init() {}

    /// Records the end of a worker that the fleet had not stopped.
    package mutating func note(after time: Duration, at now: ContinuousClock.Instant) {
        if time >= Self.soundAfter { failures = 0 }
        until = now + Self.waits.delay(failures: failures, random: 1)
        failures += 1
    }

    package func isOver(at now: ContinuousClock.Instant) -> Bool { until.map { $0 <= now } ?? true }
}
