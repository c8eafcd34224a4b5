public import Redis

extension JobQueue {
    /// Waits until there is something to admit, or the time is over.
    ///
    /// `admit` empties the ingress streams, so whatever is in them is new; unless it left entries because enough jobs
    /// wait.
    ///
    /// - Parameters:
    ///   - onlyUrgent: whether to pass over the ingress stream of what is not urgent.
    ///   - position: the last ring that was heard; `0` for none yet. Moves on.
    ///   - bell: a client of its own, because the wait blocks its connection.
    public func waitForEntries(
        atMost time: Duration, onlyUrgent: Bool, after position: inout String, bell: RedisClient
    ) async throws(QueueError) {
        let bellKey = name.keys.bell
        let streams = [name.keys.urgentIngress] + (onlyUrgent ? [] : [name.keys.ingress])
        let reply = try await block(
            ["XREAD", "COUNT", "1", "BLOCK", RedisArgument(max(1, time.milliseconds)), "STREAMS"]
                + (streams + [bellKey]).map { RedisArgument($0) } + streams.map { _ in "0" }
                + [RedisArgument(position)],
            atMost: time, on: bell)
        for stream in reply.array ?? [] where stream.array?.first?.string == bellKey {
            guard let id = stream.array?.last?.array?.last?.array?.first?.string else {
                throw QueueError(.unexpectedReply, "the stream \(bellKey) has \(stream).")
            }
            position = id
        }
    }

    /// Waits until this worker is woken because there are jobs to claim, or the time is over.
    ///
    /// - Parameter waker: a client of its own, because the wait blocks its connection.
    /// - Returns: whether it was woken: whoever then claims nothing wakes another by ``wakeAnother()``.
    public func sleep(atMost time: Duration, on waker: RedisClient) async throws(QueueError)
        -> Bool
    {
        let seconds = Double(max(1, time.milliseconds)) / 1000
        let reply = try await block(
            ["BLPOP", wakeKey, RedisArgument("\(seconds)")], atMost: time, on: waker)
        return reply.array != nil
    }

    /// Wakes a worker in place of the caller, which was woken and cannot claim.
    public func wakeAnother() async throws(QueueError) {
        _ = try await send(["RPUSH", wakeKey, "1"])
    }

    private var wakeKey: RedisArgument { RedisArgument(name.keys.wake) }

    /// Whether there is something to claim, as far as one look shows that costs next to nothing: it is for a worker that
    /// was not woken.
    public func hasClaimable() async throws(QueueError) -> Bool {
        let flows = ["interactive", "normal", "bulk", "alone"].map {
            RedisArgument(name.keys.flows($0))
        }
        return try await send(["EXISTS"] + flows).int != 0
    }

    private func block(
        _ command: [RedisArgument], atMost time: Duration, on client: RedisClient
    ) async throws(QueueError) -> RedisReply {
        do {
            return try await client.send(command, timeout: time + .seconds(5))
        } catch {
            throw QueueError(.redis, "waiting for work failed: \(error)", cause: error)
        }
    }
}
