import Edits
import Redis

/// Reads dead jobs in the order of their deaths, in bounded memory.
///
/// A job that is replayed between two pages is not returned any more; no other job is skipped. Jobs that die after the reader was
/// created are not returned: otherwise a job that fails again at once would be replayed forever.
public struct DeadReader: Sendable {
    private let queue: JobQueue
    private let filter: DeadFilter
    /// The position after the last page.
    public private(set) var position: Position
    private var digests: [String: String?] = [:]

    /// The maximum number of dead jobs of one page.
    public static let pageMax = 200
    /// The maximum number of edits whose digests are cached.
    private static let digestsMax = 100

    /// Starts at the first dead job, or continues at the position of another reader.
    ///
    /// - Parameter position: The position of a reader with the same filter.
    public init(
        _ queue: JobQueue, _ filter: DeadFilter, after position: Position? = nil
    ) async throws(QueueError) {
        self.queue = queue
        self.filter = filter
        if let position {
            self.position = position
            return
        }
        let last = try await queue.lastDeath()
        self.position = Position(
            from: filter.since ?? 0, until: min(filter.until ?? last, last), job: "")
    }

    /// Returns the matching jobs of the next page, possibly none; nil after the last page.
    ///
    /// - Parameter count: The number of dead jobs to inspect, at most ``pageMax``.
    public mutating func next(
        _ count: Int = DeadReader.pageMax
    ) async throws(QueueError) -> [JobRecord]? {
        let count = max(1, min(count, Self.pageMax))
        // Jobs that died in the same millisecond are ordered by the bytes of their names. Jobs that were read already are read
        // again and skipped: an offset would be wrong if some of them were removed meanwhile.
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

    /// Returns whether Redis orders one member before another one of equal score.
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
        // Text that is not an edit has no digest.
        let digest = (try? Edit(json: text))?.json.digest
        if digests.count >= Self.digestsMax { digests = [:] }
        digests[text] = .some(digest)
        return digest
    }
}

extension JobQueue {
    /// Returns the records of jobs; jobs without a record are left out.
    func records(of ids: [String]) async throws(QueueError) -> [JobRecord] {
        let replies = try await sendAll(
            ids.map { ["HGETALL", RedisArgument(name.keys.job($0))] })
        return zip(ids, replies).compactMap { JobRecord($0, $1.pairs ?? [:]) }
    }

    /// Returns the edit of a job as the producer sent it: its own or its batch's. Returns nil if the job never had one.
    public func edit(of record: JobRecord) async throws(QueueError) -> String? {
        let own = try await send(["GET", RedisArgument(name.keys.edit(record.job))])
        var bytes = own.bytes
        if bytes == nil, let batch = record.batch {
            bytes = try await send(["GET", RedisArgument(name.keys.batchEdit(batch))]).bytes
        }
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }
}
