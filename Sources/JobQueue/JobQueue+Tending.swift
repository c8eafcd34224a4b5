import Redis

extension JobQueue {
    /// What was ended because nobody else ended it.
    public struct Tended: Sendable, Equatable {
        /// Batches that were sealed because nothing came any more.
        public let sealed: Int
        /// Lanes that were removed because nobody opened them.
        public let removed: Int
        /// Whether it was the caller's turn, and with it that to move dead jobs.
        public let isTurn: Bool

        /// Whether nothing was.
        public var isNothing: Bool { sealed + removed == 0 }
    }

    /// Does the next part of looking after idle batches and lanes without an owner, if it is time: once a
    /// ``QueueSettings/tendPace`` for all workers together.
    public func tend() async throws(QueueError) -> Tended {
        let reply = try await run(
            QueueScript.tend,
            [
                RedisArgument(settings.tendPace.milliseconds), RedisArgument(settings.tendMax),
                RedisArgument(settings.batchIdleMax.milliseconds),
                RedisArgument(settings.unopenedLaneMax.milliseconds),
                RedisArgument(settings.scanStep),
            ])
        guard let counts = reply.array, counts.count == 3, let sealed = counts[0].int,
            let removed = counts[1].int, let isTurn = counts[2].int
        else { throw unexpected(reply, of: QueueScript.tend) }
        return Tended(sealed: Int(sealed), removed: Int(removed), isTurn: isTurn == 1)
    }
}
