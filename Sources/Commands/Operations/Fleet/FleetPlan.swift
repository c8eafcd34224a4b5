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
