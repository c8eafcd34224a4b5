import Synchronization

/// A Lua script that the server runs by its SHA-1.
///
/// Create one value per script and keep it: it stores the digest that the server returns on the first run. Copies share the
/// digest, also between clients, because it depends on the source alone.
public struct RedisScript: Sendable {
    public let name: String

    public let source: [UInt8]

    private let digest = Digest()

    public init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
    }

    public init(name: String, source: String) {
        self.init(name: name, source: Array(source.utf8))
    }

    /// The SHA-1 of the source in hexadecimal; nil until a server has returned it.
    var sha: String? {
        get { digest.sha.withLock { $0 } }
        nonmutating set { digest.sha.withLock { $0 = newValue } }
    }

    private final class Digest: Sendable {
        let sha = Mutex<String?>(nil)
    }
}

/// Small records in one hash, by id. A change succeeds only if the record is the one that was read, and the same script announces
/// it in a stream.
public struct RecordHash: Sendable {
    public enum Change: String, Sendable {
        /// The record was changed, and the change was announced.
        case made = "OK"
        /// The record differs from the one that was read.
        case changed = "CHANGED"
        /// A new record would exceed the maximum number.
        case full = "FULL"
        /// A new record would exceed its owner's share.
        case share = "SHARE"
    }

    /// The limit on the records of one owner, which the script counts, so that two calls at a time cannot both take the last place.
    public struct Share: Sendable {
        /// The fields that lead to the owner in a record, which is a JSON object: `owner.tenant`.
        let path: String
        let owner: String
        let countMax: Int

        public init(of owner: String, at path: String, countMax: Int) {
            (self.path, self.owner, self.countMax) = (path, owner, countMax)
        }
    }

    /// The number of records of one step of a scan.
    static let stepCount = 500

    private let redis: RedisClient
    private let key: String
    private let stream: String
    private let field: String
    public let countMax: Int

    /// - Parameters:
    ///   - key: The hash.
    ///   - stream: The stream of announcements, in the same slot as the hash.
    ///   - field: The name of the stream's field that contains the id.
    public init(redis: RedisClient, key: String, stream: String, field: String, countMax: Int) {
        self.redis = redis
        self.key = key
        self.stream = stream
        self.field = field
        self.countMax = countMax
    }

    public func record(_ id: String) async throws(RedisError) -> [UInt8]? {
        try await redis.send(["HGET", RedisArgument(key), RedisArgument(id)]).bytes
    }

    /// Returns all records by id; at most ``countMax``, even if another client has added more.
    ///
    /// A record that changes during the call is returned in its old or its new form.
    public func all() async throws(RedisError) -> [String: [UInt8]] {
        var records: [String: [UInt8]] = [:]
        var cursor = "0"
        repeat {
            let reply = try await redis.send([
                "HSCAN", RedisArgument(key), RedisArgument(cursor), "COUNT",
                RedisArgument(Self.stepCount),
            ])
            let fields = reply.array?.last?.array ?? []
            for index in stride(from: 0, to: fields.count - 1, by: 2) {
                if let id = fields[index].string, let record = fields[index + 1].bytes {
                    records[id] = record
                }
            }
            cursor = reply.array?.first?.string ?? "0"
        } while cursor != "0" && records.count < countMax
        return records
    }

    /// Creates, changes or removes a record.
    ///
    /// - Parameters:
    ///   - old: The record as it was read; nil for none.
    ///   - new: The record that replaces it; nil removes it.
    ///   - share: The limit on the records of the owner of a new one; nil for none.
    public func replace(
        _ id: String, _ old: [UInt8]?, with new: [UInt8]?, within share: Share? = nil
    ) async throws(RedisError) -> Change {
        let reply = try await redis.run(
            Self.script, keys: [key, stream],
            arguments: [
                RedisArgument(id), RedisArgument(old ?? []), RedisArgument(new ?? []),
                RedisArgument(countMax), RedisArgument(field),
                RedisArgument(share?.path ?? ""), RedisArgument(share?.owner ?? ""),
                RedisArgument(share?.countMax ?? 0),
            ])
        guard let change = reply.string.flatMap(Change.init(rawValue:)) else {
            throw RedisError(
                .protocolViolation,
                "Script \(Self.script.name) answered \(reply); expected OK, CHANGED, FULL or SHARE.",
                mayHaveExecuted: true)
        }
        return change
    }

    /// The script also runs while Redis is full: the revocation of a permission must always be possible, and a record is small.
    public static let script = RedisScript(
        name: "replace_record",
        source: """
            #!lua flags=allow-oom
            -- KEYS   the hash, the stream of changes
            -- ARGV   id, the record as it was read or ``, the new one or `` to remove it, most records, the stream's field,
            --        path to the owner in a record or ``, the owner of the new one, most records of an owner
            -- Returns OK, CHANGED, FULL, SHARE
            -- Crash  The script writes everything or nothing.
            if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 'CHANGED' end
            if ARGV[2] == '' and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 'FULL' end
            if ARGV[2] == '' and ARGV[6] ~= '' then
              local count = 0
              for index, record in ipairs(redis.call('HGETALL', KEYS[1])) do
                if index % 2 == 0 then
                  local isRead, value = pcall(cjson.decode, record)
                  for name in string.gmatch(ARGV[6], '[^.]+') do
                    value = isRead and type(value) == 'table' and value[name]
                  end
                  if value == ARGV[7] then count = count + 1 end
                end
              end
              if count >= tonumber(ARGV[8]) then return 'SHARE' end
            end
            if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1])
            else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
            redis.call('XADD', KEYS[2], 'MAXLEN', '~', '1000', '*', ARGV[5], ARGV[1])
            return 'OK'
            """)
}
