public import Edits
import Redis

extension JobQueue {
    /// The maximum number of batches of one list.
    public static let batchesListedMax = 1000

    /// Returns the record of a batch; nil if no batch of this name was opened, or if its record was dropped some time after it
    /// ended.
    public func record(of batch: BatchID) async throws(QueueError) -> BatchRecord? {
        try await records(ofBatches: [batch.string]).first
    }

    /// Returns the edit of a batch, as the producer sent it.
    public func edit(of batch: BatchID) async throws(QueueError) -> String? {
        try await send(["GET", RedisArgument(name.keys.batchEdit(batch.string))]).string
    }

    /// Returns batches, the last opened one first.
    ///
    /// - Parameters:
    ///   - openOnly: Whether to return only batches that have not ended.
    ///   - count: The maximum number of batches, of the newest ``batchesListedMax``.
    public func batches(
        openOnly: Bool = false, count: Int
    ) async throws(QueueError) -> [BatchRecord] {
        let names = try await send([
            "ZRANGE", RedisArgument(name.keys.batches), "0",
            RedisArgument((openOnly ? Self.batchesListedMax : count) - 1), "REV",
        ])
        let records = try await records(ofBatches: names.array?.compactMap(\.string) ?? [])
        return Array(records.filter { !openOnly || !$0.isComplete }.prefix(count))
    }

    /// The number of batches that are read by one call, so that calls of others come between: a connection takes 10,000 commands.
    private static let batchesStep = 100

    private func records(ofBatches names: [String]) async throws(QueueError) -> [BatchRecord] {
        var records: [BatchRecord] = []
        for start in stride(from: 0, to: names.count, by: Self.batchesStep) {
            let some = names[start..<min(start + Self.batchesStep, names.count)]
            records += try await read(batches: Array(some))
        }
        return records
    }

    private func read(batches names: [String]) async throws(QueueError) -> [BatchRecord] {
        let keys = name.keys
        var commands: [[RedisArgument]] = [["TIME"]]
        for name in names {
            commands.append(["HGETALL", RedisArgument(keys.batch(name))])
            commands.append(["XLEN", RedisArgument(keys.batchStream(name))])
        }
        let replies = try await sendAll(commands)
        let now = Int((replies[0].array?.first?.int ?? 0) * 1000)
        return names.enumerated().compactMap { index, name in
            BatchRecord(
                name, replies[1 + 2 * index].pairs ?? [:],
                lane: Int(replies[2 + 2 * index].int ?? 0), now: now)
        }
    }

    /// Sends several commands together.
    func sendAll(_ commands: [[RedisArgument]]) async throws(QueueError) -> [RedisReply] {
        var replies: [RedisReply] = []
        for result in await redis.sendAll(commands) {
            switch result {
            case .success(let reply): replies.append(reply)
            case .failure(let error):
                throw QueueError(.redis, "queue \(name): \(error)", cause: error)
            }
        }
        return replies
    }
}
