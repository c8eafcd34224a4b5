/// The workers of a fleet to start and to stop.
package struct FleetPlan: Equatable {
    /// One worker process.
    package struct Member: Equatable {
        package let number: Int
        /// The number of jobs that it holds; nil before its first heartbeat.
        package let busy: Int?

        package init(number: Int, busy: Int?) {
            self.number = number
            self.busy = busy
        }
    }

    /// The number of workers to start.
    package let start: Int
    /// The numbers of the workers to stop.
    package let stop: [Int]

    /// - Parameters:
    ///   - members: The running workers that are not being stopped.
    ///   - others: The number of the queue's workers that do not belong to the fleet.
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
