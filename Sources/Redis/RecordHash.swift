/// Small records in one hash, by id: a change is made only to what was read, and told through a stream in the same
/// script.
public struct RecordHash: Sendable {
    /// How a change ended.
    public enum Change: String, Sendable {
        /// It was made and told.
        case made = "OK"
        /// The record is not the one that was read.
        case changed = "CHANGED"
        /// A new record would be one too many.
        case full = "FULL"
    }

    /// Records of one step of a walk.
    static let stepCount = 500

    private let redis: RedisClient
    private let key: String
    private let stream: String
    private let field: String
    /// Most records.
    public let countMax: Int

    /// - Parameters:
    ///   - key: the hash.
    ///   - stream: who is told; in the same slot as the hash.
    ///   - field: the name under which the stream says the id.
    public init(redis: RedisClient, key: String, stream: String, field: String, countMax: Int) {
        self.redis = redis
        self.key = key
        self.stream = stream
        self.field = field
        self.countMax = countMax
    }

    /// The record of an id; nil when there is none.
    public func record(_ id: String) async throws(RedisError) -> [UInt8]? {
        try await redis.send(["HGET", RedisArgument(key), RedisArgument(id)]).bytes
    }

    /// All records by id; at most ``countMax``, should somebody else have added more.
    ///
    /// One that is changed meanwhile is given as it was or as it is.
    public func all() async throws(RedisError) -> [String: [UInt8]] {
        var records: [String: [UInt8]] = [:]
        var cursor = "0"
        repeat {
            let reply = try await redis.send([
                "HSCAN", RedisArgument(key), RedisArgument(cursor), "COUNT",
                RedisArgument(Self.stepCount),
            ])
            let words = reply.array?.last?.array ?? []
            for place in stride(from: 0, to: words.count - 1, by: 2) {
                if let id = words[place].string, let record = words[place + 1].bytes {
                    records[id] = record
                }
            }
            cursor = reply.array?.first?.string ?? "0"
        } while cursor != "0" && records.count < countMax
        return records
    }

    /// Makes, changes or removes a record.
    ///
    /// - Parameters:
    ///   - old: the record as it was read; nil for none.
    ///   - new: the record that takes its place; nil removes it.
    public func replace(
        _ id: String, _ old: [UInt8]?, with new: [UInt8]?
    ) async throws(RedisError) -> Change {
        let reply = try await redis.run(
            Self.script, keys: [key, stream],
            arguments: [
                RedisArgument(id), RedisArgument(old ?? []), RedisArgument(new ?? []),
                RedisArgument(countMax), RedisArgument(field),
            ])
        guard let change = reply.string.flatMap(Change.init(rawValue:)) else {
            throw RedisError(
                .protocolViolation,
                "Script \(Self.script.name) answered \(reply); expected OK, CHANGED or FULL.",
                mayHaveExecuted: true)
        }
        return change
    }

    /// Runs also while Redis is full: to take a right away must always be possible, and a record is small.
    private static let script = RedisScript(
        name: "replace_record",
        source: """
            #!lua flags=allow-oom
            -- KEYS   the hash, the stream that tells
            -- ARGV   id, the record as it was read or ``, the new one or `` to remove it, most records, the stream's field
            -- Returns OK, CHANGED, FULL
            -- Crash  All of it or nothing.
            if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 'CHANGED' end
            if ARGV[2] == '' and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 'FULL' end
            if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1])
            else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
            redis.call('XADD', KEYS[2], 'MAXLEN', '~', '1000', '*', ARGV[5], ARGV[1])
            return 'OK'
            """)
}
