public import Edits
import FoundationEssentials
public import Redis

/// Reads the event stream from a position, as any consumer would, and detects that the stream was trimmed beyond that
/// position.
///
/// Each read begins with the entry that was read last. While that entry exists, no later entry has been trimmed, because a
/// stream is trimmed from its start; one `XRANGE` returns both at the same moment. `XREAD BLOCK` serves only to wait for new
/// entries.
public struct EventReader: Sendable {
    /// One entry of the stream.
    public struct Entry: Sendable {
        /// The id of the entry, and the position to continue from.
        public let id: String
        /// The CloudEvent as the queue wrote it.
        public let json: String
        /// The CloudEvent, decoded.
        public let event: JobEvent

        /// Decodes a row of `XRANGE`; nil if it is not an entry.
        ///
        /// - Throws: `unreadableEvent` if it is not an event that this minilab reads.
        package init?(row: RedisReply, of queue: QueueName) throws(QueueError) {
            guard let id = row.array?.first?.string, let bytes = row.array?.last?.array?.last?.bytes
            else { return nil }
            self.id = id
            json = String(decoding: bytes, as: UTF8.self)
            do {
                event = try JSONDecoder().decode(JobEvent.self, from: Data(bytes))
            } catch {
                throw QueueError(
                    .unreadableEvent,
                    "entry \(id) of the events of queue \(queue) is passed over: it is no event that this release reads "
                        + "(\(error.decodingReason)). A later release or another program wrote it; read it with XRANGE, or upgrade "
                        + "this minilab."
                )
            }
        }
    }

    /// Returns the time at which an entry was added, ms since 1970, from its id.
    package static func milliseconds(of id: String) -> Int { Int(id.prefix { $0 != "-" }) ?? 0 }

    /// The id of the last entry that was read.
    public private(set) var position: String
    /// The position before it was ahead of the stream; nil if it never was. Redis has lost its last events, which this reader has
    /// read, so it goes on after the newest one that is left.
    public private(set) var lostPosition: String?
    /// The number of entries that were ever added up to a position, where Redis has told it.
    private var counted: (position: StreamID, entries: Int64)?
    private let queue: QueueName
    private let redis: RedisClient
    private let tenant: String?
    private let countMax: Int

    /// The maximum number of entries of one read.
    ///
    /// A longer reply than ``RedisConfiguration/replyBytesMax`` ends the connection for all its callers. An event with 16 renditions,
    /// 8 previews, a name of 1,024 bytes and a URL of each has some 140 KB, and so many of them 14 MB.
    public static let batchMax = 100
    /// The bytes of JSON of one read in a turn that tenants share: to decode and show them takes some 3 ms of a core. A hundred events
    /// with 25 KB each took 333, and whoever waited for a turn waited so long.
    static let turnBytes = 16 << 10
    /// The entries of a first read in a turn. They tell how long the next ones may be.
    package static let turnFirst = 1

    /// Returns the maximum number of entries of the next read in a turn: as many as ``turnBytes`` has of those that were read last, and
    /// twice as many at most.
    package static func turnNext(after entries: [Entry]) -> Int {
        guard !entries.isEmpty else { return turnFirst }
        let bytes = entries.reduce(0) { $0 + $1.json.utf8.count }
        let fitting = turnBytes * entries.count / max(1, bytes)
        return max(turnFirst, min(batchMax, 2 * entries.count, fitting))
    }

    /// The lead of a position over this machine's clock beyond which no queue has given it, in milliseconds: clocks differ, but not by
    /// an hour.
    static let futureMax: UInt64 = 3_600_000

    /// The position before the first entry that the stream still has.
    public static let beginning = "0"

    /// Creates a reader that starts after `position`.
    ///
    /// - Parameters:
    ///   - redis: A client; blocking reads need one of their own.
    ///   - tenant: The tenant whose events alone matter to the reader; nil: all do. Those of a tenant are kept longer than the
    ///     stream, and events of others that are lost are no loss to it. The reader may return events of others.
    ///   - countMax: The maximum number of entries of each read.
    public init(
        queue: QueueName, redis: RedisClient, after position: String = beginning,
        of tenant: String? = nil, atMost countMax: Int = batchMax
    ) {
        self.queue = queue
        self.redis = redis
        self.position = position
        self.tenant = tenant
        self.countMax = max(1, min(countMax, Self.batchMax))
    }

    public init(queue: QueueName, redis: RedisClient, afterNewest: Void) async throws(QueueError) {
        self.init(queue: queue, redis: redis)
        let newest = try await send("XREVRANGE", key, "+", "-", "COUNT", "1")
        position = newest.array?.first?.array?.first?.string ?? Self.beginning
    }

    /// Returns the next entries, or an empty array if none arrived in time.
    ///
    /// - Parameter time: The time to wait for an entry; zero does not wait.
    /// - Throws: `tokenExpired` if entries after the position may have been trimmed before they were read;
    ///   `unreadableEvent` once for each entry that is not an event, after which the next call continues; `badPosition`, `redis`,
    ///   `unexpectedReply`.
    public mutating func next(waiting time: Duration = .zero) async throws(QueueError) -> [Entry] {
        let entries = try await read()
        if !entries.isEmpty || time <= .zero { return entries }
        let reply = try await send(
            "XREAD", "COUNT", "1", "BLOCK", max(1, time.milliseconds), "STREAMS", key, position,
            timeout: time + .seconds(5))
        return reply.isNull ? [] : try await read()
    }

    private var key: String { queue.keys.events }

    private mutating func read() async throws(QueueError) -> [Entry] {
        guard let last = StreamID(position) else {
            throw QueueError(
                .badPosition,
                "\(position.debugDescription) is not the id of an event; expected one as in "
                    + "1763700000000-0, or \(Self.beginning) for the beginning.")
        }
        let reply = try await send("XRANGE", key, last.description, "+", "COUNT", countMax + 1)
        var rows = (reply.array ?? [])[...]
        if rows.first?.array?.first?.string == last.description {
            rows = rows.dropFirst()
        } else if last > .beginning || tenant != nil {
            let kept = try await checkNothingIsLost(after: last)
            if !kept.isEmpty { rows = kept[...] }
        }
        var entries: [Entry] = []
        for row in rows.prefix(countMax) {
            do throws(QueueError) {
                guard let entry = try Entry(row: row, of: queue) else { continue }
                entries.append(entry)
                position = entry.id
            } catch {
                // The entries before it are returned first. The next call reads it again and throws.
                guard entries.isEmpty else { break }
                position = row.array?.first?.string ?? position
                throw error
            }
        }
        return entries
    }

    /// Checks for lost entries when the entry that was read last no longer exists.
    ///
    /// That entry was trimmed, perhaps alone, or it never existed: a position may be a time. No entry is lost if the stream
    /// reaches back to before the position, if no entry followed it, or if the stream still has as many entries as were added after it.
    ///
    /// - Returns: The next entries of the reader's tenant that are kept beside the stream.
    private mutating func checkNothingIsLost(
        after last: StreamID
    ) async throws(QueueError) -> [RedisReply] {
        let reply: RedisReply
        do {
            reply = try await redis.send(["XINFO", "STREAM", RedisArgument(key)])
        } catch  where error.serverError?.message == "ERR no such key" {
            if last == .beginning { return [] }
            if try await entries(upTo: last, ofAll: 0) != nil { return [] }
            throw expired("the stream does not exist", newest: nil)
        } catch {
            throw failure(error)
        }
        var fields: [String: RedisReply] = [:]
        let list = reply.array ?? []
        for index in stride(from: 0, to: list.count - 1, by: 2) {
            if let name = list[index].string { fields[name] = list[index + 1] }
        }
        guard let newest = fields["last-generated-id"]?.string.flatMap({ StreamID($0) }) else {
            throw QueueError(.unexpectedReply, "XINFO STREAM answered without last-generated-id.")
        }
        // A Redis before version 7 does not tell it.
        let added = fields["entries-added"]?.int
        if last == newest {
            counted = added.map { (last, $0) }
            return []
        }
        if last > newest {
            // The reader has read what was lost, and an id that is added later is above the newest one.
            let now = UInt64(max(0, Date.now.timeIntervalSince1970 * 1000))
            guard last.milliseconds <= now + Self.futureMax else {
                throw expired(
                    "the newest one is \(newest), so this is another stream", newest: newest)
            }
            lostPosition = position
            position = newest.description
            counted = added.map { (newest, $0) }
            return []
        }
        let oldest = fields["first-entry"]?.array?.first?.string.flatMap { StreamID($0) }
        if let oldest, oldest <= last { return [] }
        if let added, let length = fields["length"]?.int,
            try await entries(upTo: last, ofAll: added) == added - length
        {
            return []
        }
        if let kept = try await kept(after: last, before: oldest ?? newest) { return kept }
        if last == .beginning { return [] }
        throw expired(
            oldest.map { "the oldest one left is \($0)" } ?? "none is left", newest: newest)
    }

    /// Returns the number of entries that were ever added to the stream up to a position; nil if it is not known.
    ///
    /// Before a time at which the stream has no entries yet, none were added unless some were removed. An id is another thing: an event
    /// may have had it, and where the stream lacks that one, it may be another stream, whose counts tell nothing of the reader's.
    private func entries(
        upTo last: StreamID, ofAll added: Int64
    ) async throws(QueueError) -> Int64? {
        if added > 0, let counted, counted.position == last { return counted.entries }
        guard last > .beginning, !position.contains("-"), try await isFirst(withAll: added) else {
            return nil
        }
        return 0
    }

    /// The counters that rise with an event each, and with nothing else.
    private static let countersOfEvents = [
        "completed", "drafted", "rendered", "unchanged", "superseded", "failed", "retried", "stuck",
        "conflicts", "batches", "batchesExpired",
    ]

    /// Returns whether nothing tells of an earlier stream of the queue than one to which so many entries were added: the queue has counted
    /// no more events than these. A user that may not read the counters does not know it.
    private func isFirst(withAll added: Int64) async throws(QueueError) -> Bool {
        let reply: RedisReply
        do {
            reply = try await redis.send(
                RedisArgument.list(["HMGET", queue.keys.counters, Self.countersOfEvents]))
        } catch {
            guard error.serverError != nil else { throw failure(error) }
            return false
        }
        return (reply.array ?? []).reduce(0) { $0 + ($1.int ?? 0) } <= added
    }

    /// Returns the next events of the reader's tenant that were pushed out of the stream; nil if others of it are lost, or if
    /// that is not known. `Scripts/Shared/events.lua` has the format.
    private func kept(
        after last: StreamID, before oldest: StreamID
    ) async throws(QueueError) -> [RedisReply]? {
        guard let tenant else { return nil }
        // Read before the facts, which then tell what was dropped in between, and that the first ones are none of these.
        let rows = try await send(
            "XRANGE", queue.keys.keptEvents(of: tenant), "(\(last)", "+", "COUNT",
            last == .beginning ? Self.batchMax : countMax)
        let facts = try await send(
            "HMGET", queue.keys.eventsCut, "from", "to", "all", "tenant:" + tenant)
        let ids = (facts.array ?? []).map { $0.string.flatMap { StreamID($0) } }
        guard ids.count == 4, let from = ids[0], let to = ids[1], to >= oldest else { return nil }
        let lost = max(ids[2] ?? .beginning, ids[3] ?? .beginning)
        if last == .beginning {
            return (rows.array ?? []).filter { row in
                row.array?.first?.string.flatMap { StreamID($0) }.map { $0 >= from } ?? false
            }
        }
        return last >= from && last >= lost ? rows.array ?? [] : nil
    }

    private func expired(_ reason: String, newest: StreamID?) -> QueueError {
        let newest = newest?.description ?? Self.beginning
        return QueueError(
            .tokenExpired,
            "the events of queue \(queue) after \(position) are not all there any more: \(reason). Take "
                + "stock instead: keep \(newest) as the newest id, list every asset with minilab assets "
                + "--json, then read on with minilab events --after \(newest).")
    }

    private func send(
        _ command: any Arguments..., timeout: Duration? = nil
    ) async throws(QueueError) -> RedisReply {
        do {
            return try await redis.send(RedisArgument.list(command), timeout: timeout)
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: RedisError) -> QueueError {
        QueueError(.redis, "reading the events of queue \(queue) failed: \(error)", cause: error)
    }
}
