package import JobQueue

/// Returns the number of workers that a queue needs, and smooths it separately for each target.
package actor ScaleDesk {
    /// The maximum number of targets whose history is kept; beyond it, the least recently requested one is dropped.
    private static let targetsMax = 16

    private let queue: JobQueue
    private let snapshots: SharedSnapshot
    private var histories: [(target: ScaleTarget, history: ScaleHistory)] = []

    package init(_ queue: JobQueue, _ snapshots: SharedSnapshot) {
        self.queue = queue
        self.snapshots = snapshots
    }

    package func advice(_ target: ScaleTarget) async throws -> ScaleAdvice {
        let advice = try await queue.scaleAdvice(target, from: try await snapshots.current().status)
        var history = ScaleHistory()
        if let index = histories.firstIndex(where: { $0.target == target }) {
            history = histories.remove(at: index).history
        }
        let settled = history.settle(advice, at: .now)
        histories.append((target, history))
        if histories.count > Self.targetsMax { histories.removeFirst() }
        return settled
    }
}
