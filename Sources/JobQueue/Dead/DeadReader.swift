import Adjustments
import Redis

/// Reads dead jobs, the one that died first at the front, in bounded memory however many there are.
///
/// Jobs that are replayed between two pages are simply gone; none that stays is passed over. Jobs that die after the
/// reader was made are not read: else what fails again at once would be replayed for ever.
public struct DeadReader: Sendable {
    private let queue: JobQueue
    private let filter: DeadFilter
    /// The place after the last page.
    public private(set) var position: Position
    private var digests: [String: String?] = [:]

    /// Dead jobs of one page.
    public static let pageMax = 200
    /// Texts of edits whose digests are remembered.
    private static let digestsMax = 100

    /// Starts at the front, or goes on at a place where another reader stopped.
    ///
    /// - Parameter position: of a reader with the same filter.
    public init(
        _ queue: JobQueue, _ filter: DeadFilter, after position: Position? = nil
    ) async throws(QueueError) {
        self.queue = queue
        self.filter = filter
        if let position {
            self.position = position
            return
        }
        let now = try await queue.now()
        self.position = Position(
            from: filter.since ?? 0, until: min(filter.until ?? now, now), job: "")
    }

    /// The jobs of the next page that the filter means, perhaps none; nil after the last page.
    ///
    /// - Parameter count: dead jobs that are looked at, at most ``pageMax``.
    public mutating func next(
        _ count: Int = DeadReader.pageMax
    ) async throws(QueueError) -> [JobRecord]? {
        let count = max(1, min(count, Self.pageMax))
        // Jobs of one millisecond are in the order of their names' bytes. Those that were read are read again, and passed
        // over: a number of them would be wrong when some go meanwhile.
        var limit = count + 1
        while true {
            let page = try await queue.send([
                "ZRANGEBYSCORE", RedisArgument(queue.name.keys.dead),
                RedisArgument(position.from), RedisArgument(position.until), "WITHSCORES",
                "LIMIT", "0", RedisArgument(limit),
            ])
            let items = page.array ?? []
            var ids: [String] = []
            var last = position
            for index in stride(from: 0, to: items.count - 1, by: 2) where ids.count < count {
                guard let id = items[index].string, let died = items[index + 1].int,
                    died > position.from || Self.isBefore(position.job, id)
                else { continue }
                ids.append(id)
                last = Position(from: Int(died), until: position.until, job: id)
            }
            if !ids.isEmpty {
                position = last
                return try await matching(ids)
            }
            if items.count / 2 < limit { return nil }
            limit *= 2
        }
    }

    /// Redis' order of members of one score.
    private static func isBefore(_ one: String, _ other: String) -> Bool {
        one.utf8.lexicographicallyPrecedes(other.utf8)
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
