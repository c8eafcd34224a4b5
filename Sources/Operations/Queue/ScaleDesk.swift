package import JobQueue

/// Says how many workers a queue asks for, and keeps that steady for each who asks with another target.
package actor ScaleDesk {
    /// Targets whose history is kept; of more, the one that was asked for longest ago is forgotten.
    private static let targetsMax = 16

    private let queue: JobQueue
    private let look: SharedLook
    private var histories: [(target: ScaleTarget, history: ScaleHistory)] = []

    package init(_ queue: JobQueue, _ look: SharedLook) {
        self.queue = queue
        self.look = look
    }

    package func advice(_ target: ScaleTarget) async throws -> ScaleAdvice {
        let advice = try await queue.scaleAdvice(target, from: try await look.look().status)
        var history = ScaleHistory()
        if let place = histories.firstIndex(where: { $0.target == target }) {
            history = histories.remove(at: place).history
        }
        let settled = history.settle(advice, at: .now)
        histories.append((target, history))
        if histories.count > Self.targetsMax { histories.removeFirst() }
        return settled
    }
}
