/// Which workers of a fleet are started and stopped.
package struct FleetPlan: Equatable {
    /// One worker process.
    package struct Member: Equatable {
        package let number: Int
        /// Jobs that it holds; nil while the queue has not heard of it.
        package let busy: Int?

        package init(number: Int, busy: Int?) {
            self.number = number
            self.busy = busy
        }
    }

    /// How many are started.
    package let start: Int
    /// Numbers of those that are stopped.
    package let stop: [Int]

    /// - Parameters:
    ///   - members: those that run and are not being stopped.
    ///   - others: workers of the queue that are not the fleet's.
    package init(_ members: [Member], wanted: Int, others: Int, of range: ClosedRange<Int>) {
        let own = min(max(wanted - others, range.lowerBound), range.upperBound)
        start = max(0, own - members.count)
        // A render is not cut off: those that hold jobs end later, when they hold none. The youngest first: the others
        // have their caches warm.
        stop = members.filter { $0.busy == 0 }.map(\.number).sorted(by: >)
            .prefix(max(0, members.count - own)).map(\.self)
    }
}
