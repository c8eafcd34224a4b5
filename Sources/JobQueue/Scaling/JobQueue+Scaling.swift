import Redis

extension JobQueue {
    /// How many workers the work that waits asks for at this moment.
    ///
    /// - Parameter status: the queue, when it was just looked at.
    public func scaleAdvice(
        _ target: ScaleTarget, from status: QueueStatus? = nil
    ) async throws(QueueError) -> ScaleAdvice {
        let now: QueueStatus
        if let status { now = status } else { now = try await self.status() }
        return ScaleAdvice(try await waitingWork(now), workers: now.workers, target)
    }

    /// The work that a queue has.
    func waitingWork(_ status: QueueStatus) async throws(QueueError) -> WaitingWork {
        let batches = try await batches(openOnly: true, count: Self.batchesListedMax)
        let rules = try await tenantRules()
        let usualCap = try await send(["HGET", RedisArgument(name.keys.config), "cap"]).string
        return WaitingWork(
            status, batches: batches, caps: rules.compactMapValues(\.cap),
            usualCap: usualCap.flatMap { Int($0) }, usualCost: settings.usualCost)
    }
}
