import Redis

extension JobQueue {
    /// The batches and batch streams that a worker ended because nothing else ends them.
    public struct Tended: Sendable, Equatable {
        /// The number of batches that were sealed because no more entries arrived.
        public let sealed: Int
        /// The number of batch streams that were removed because no batch of their name was opened.
        public let removed: Int
        /// Whether it was the caller's turn, which includes moving dead jobs to files.
        public let isTurn: Bool

        /// Whether nothing was ended.
        public var isNothing: Bool { sealed + removed == 0 }
    }

    /// Inspects the next idle batches and streams without a batch, if it is time: once per ``QueueSettings/tendPace`` for all
    /// workers together.
    public func tend() async throws(QueueError) -> Tended {
        let tick = ticks.begin()
        let reply = try await run(
            QueueScript.tend,
            [
                RedisArgument(settings.tendPace.milliseconds), RedisArgument(settings.tendMax),
                RedisArgument(settings.batchIdleMax.milliseconds),
                RedisArgument(settings.unopenedStreamMax.milliseconds),
                RedisArgument(settings.scanStep), tick.sinceLast,
            ])
        ticks.end(tick)
        guard let counts = reply.array, counts.count == 3, let sealed = counts[0].int,
            let removed = counts[1].int, let isTurn = counts[2].int
        else { throw unexpected(reply, of: QueueScript.tend) }
        return Tended(sealed: Int(sealed), removed: Int(removed), isTurn: isTurn == 1)
    }
}
