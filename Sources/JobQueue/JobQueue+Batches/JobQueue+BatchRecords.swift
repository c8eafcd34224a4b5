public import Adjustments
import Redis

extension JobQueue {
    /// Most batches of one list.
    public static let batchesListedMax = 1000

    /// The record of a batch, or nil when nobody has opened it, or it was dropped some time after its end.
    public func record(of batch: BatchID) async throws(QueueError) -> BatchRecord? {
        try await records(ofBatches: [batch.string]).first
    }

    /// The edit of a batch, as it was sent.
    public func edit(of batch: BatchID) async throws(QueueError) -> String? {
        try await send(["GET", RedisArgument(name.keys.batchEdit(batch.string))]).string
    }

    /// Batches, the one that was opened last at the front.
    ///
    /// - Parameters:
    ///   - openOnly: only those that have not ended.
    ///   - count: at most so many, of the newest ``batchesListedMax``.
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

    private func records(ofBatches names: [String]) async throws(QueueError) -> [BatchRecord] {
        let keys = name.keys
        var commands: [[RedisArgument]] = [["TIME"]]
        for name in names {
            commands.append(["HGETALL", RedisArgument(keys.batch(name))])
            commands.append(["XLEN", RedisArgument(keys.lane(name))])
        }
        let replies = try await sendAll(commands)
        let now = Int((replies[0].array?.first?.int ?? 0) * 1000)
        return names.enumerated().compactMap { index, name in
            BatchRecord(
                name, replies[1 + 2 * index].pairs ?? [:],
                lane: Int(replies[2 + 2 * index].int ?? 0), now: now)
        }
    }

    /// Sends commands in one go.
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
