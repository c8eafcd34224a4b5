public import Redis

extension JobQueue {
    /// Waits until there are entries to admit, or the time is over.
    ///
    /// `admit` empties the ingress streams, so every entry in them is new, unless `admit` left entries because enough jobs wait.
    ///
    /// - Parameters:
    ///   - onlyUrgent: Whether to ignore the ingress stream of non-urgent jobs.
    ///   - position: The last entry read from the stream `bell`, or `0` for none. The method advances it.
    ///   - client: A client of its own, because the wait blocks its connection.
    public func waitForEntries(
        atMost time: Duration, onlyUrgent: Bool, after position: inout String,
        on client: RedisClient
    ) async throws(QueueError) {
        let bellKey = name.keys.bell
        let streams = [name.keys.urgentIngress] + (onlyUrgent ? [] : [name.keys.ingress])
        let reply = try await block(
            ["XREAD", "COUNT", "1", "BLOCK", RedisArgument(max(1, time.milliseconds)), "STREAMS"]
                + (streams + [bellKey]).map { RedisArgument($0) } + streams.map { _ in "0" }
                + [RedisArgument(position)],
            atMost: time, on: client)
        for stream in reply.array ?? [] where stream.array?.first?.string == bellKey {
            guard let id = stream.array?.last?.array?.last?.array?.first?.string else {
                throw QueueError(.unexpectedReply, "the stream \(bellKey) has \(stream).")
            }
            position = id
        }
    }

    /// Waits until this worker is woken because there are jobs to claim, or the time is over.
    ///
    /// - Parameter client: A client of its own, because the wait blocks its connection.
    /// - Returns: Whether the worker was woken. A woken worker that claims no job must wake another one by ``wakeAnother()``.
    public func sleep(atMost time: Duration, on client: RedisClient) async throws(QueueError)
        -> Bool
    {
        let seconds = Double(max(1, time.milliseconds)) / 1000
        let reply = try await block(
            ["BLPOP", wakeKey, RedisArgument("\(seconds)")], atMost: time, on: client)
        return reply.array != nil
    }

    /// Wakes another worker in place of the caller, which was woken and cannot claim.
    public func wakeAnother() async throws(QueueError) {
        _ = try await send(["RPUSH", wakeKey, "1"])
    }

    private var wakeKey: RedisArgument { RedisArgument(name.keys.wake) }

    /// Returns whether there may be a job to claim. This cheap check of one command is for a worker that was not woken.
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
