import Adjustments
import Redis

/// Reads dead jobs, the one that died first at the front, in bounded memory however many there are.
///
/// Jobs that are replayed between two pages are simply gone; none that stays is passed over. Jobs that die after the
/// reader was made are not read: else what fails again at once would be replayed for ever.
public struct DeadReader: Sendable {
    private let queue: JobQueue
    private let filter: DeadFilter
    private var from: Int
    private let until: Int
    /// The jobs of the last page that died in the millisecond `from`: those that are still dead are read again, and
    /// passed over.
    private var atFrom: [String] = []
    private var digests: [String: String?] = [:]

    /// Dead jobs of one page.
    public static let pageMax = 200
    /// Texts of edits whose digests are remembered.
    private static let digestsMax = 100

    /// Starts at the front.
    public init(_ queue: JobQueue, _ filter: DeadFilter) async throws(QueueError) {
        self.queue = queue
        self.filter = filter
        let time = try await queue.send(["TIME"])
        let now = Int(time.array?.first?.int ?? 0) * 1000 + 999
        from = filter.since ?? 0
        until = min(filter.until ?? now, now)
    }

    /// The jobs of the next page that the filter means, perhaps none; nil after the last page.
    public mutating func next() async throws(QueueError) -> [JobRecord]? {
        let key = RedisArgument(queue.name.keys.dead)
        let stillThere =
            atFrom.isEmpty
            ? 0
            : try await queue.send(["ZMSCORE", key] + atFrom.map { RedisArgument($0) })
                .array?.count { $0.int == Int64(from) } ?? 0
        let page = try await queue.send([
            "ZRANGEBYSCORE", key, RedisArgument(from), RedisArgument(until), "WITHSCORES", "LIMIT",
            RedisArgument(stillThere), RedisArgument(Self.pageMax),
        ])
        let items = page.array ?? []
        guard items.count >= 2, let last = items.last?.int else { return nil }
        var ids: [String] = []
        var atLast: [String] = Int(last) == from ? atFrom : []
        for index in stride(from: 0, to: items.count - 1, by: 2) {
            guard let id = items[index].string else { continue }
            ids.append(id)
            if items[index + 1].int == last { atLast.append(id) }
        }
        from = Int(last)
        atFrom = atLast
        return try await matching(ids)
    }

    private mutating func matching(_ ids: [String]) async throws(QueueError) -> [JobRecord] {
        var records: [JobRecord] = []
        for record in try await queue.records(of: ids) where filter.matches(record) {
            records.append(record)
        }
        guard let digest = filter.edit else { return records }
        var found: [JobRecord] = []
        for record in records {
            if try await self.digest(of: record) == digest { found.append(record) }
        }
        return found
    }

    private mutating func digest(of record: JobRecord) async throws(QueueError) -> String? {
        guard let text = try await queue.edit(of: record) else { return nil }
        if let known = digests[text] { return known }
        // What is no edit has no digest.
        let digest = (try? Edit(json: text))?.json.digest
        if digests.count >= Self.digestsMax { digests = [:] }
        digests[text] = .some(digest)
        return digest
    }
}

extension JobQueue {
    /// The records of jobs, without those that there are not.
    func records(of ids: [String]) async throws(QueueError) -> [JobRecord] {
        let replies = try await sendAll(
            ids.map { ["HGETALL", RedisArgument(name.keys.job($0))] })
        return zip(ids, replies).compactMap { JobRecord($0, $1.pairs ?? [:]) }
    }

    /// The edit of a job as it was sent: its own or its batch's; nil when it never had one.
    public func edit(of record: JobRecord) async throws(QueueError) -> String? {
        let own = try await send(["GET", RedisArgument(name.keys.edit(record.job))])
        var bytes = own.bytes
        if bytes == nil, let batch = record.batch {
            bytes = try await send(["GET", RedisArgument(name.keys.batchEdit(batch))]).bytes
        }
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }
}
