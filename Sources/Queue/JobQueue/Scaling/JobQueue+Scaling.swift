import Redis

extension JobQueue {
    /// Returns the number of workers that the present work needs.
    ///
    /// - Parameter status: The status of the queue, if the caller has just read it.
    public func scaleAdvice(
        _ target: ScaleTarget, from status: QueueStatus? = nil
    ) async throws(QueueError) -> ScaleAdvice {
        let now: QueueStatus
        if let status { now = status } else { now = try await self.status() }
        return ScaleAdvice(try await waitingWork(now), workers: now.workers, target)
    }

    /// Returns the work of the queue.
    func waitingWork(_ status: QueueStatus) async throws(QueueError) -> WaitingWork {
        let batches = try await batches(openOnly: true, count: Self.batchesListedMax)
        let rules = try await tenantRules()
        let usualCap = try await send(["HGET", RedisArgument(name.keys.config), "cap"]).string
        return WaitingWork(
            status, batches: batches, caps: rules.compactMapValues(\.cap),
            usualCap: usualCap.flatMap { Int($0) },
            meanCost: try await meanCost() ?? Double(settings.usualCost))
    }
}
