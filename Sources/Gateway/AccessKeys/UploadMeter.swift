import Edits
package import JobQueue
package import Redis

/// The bytes of originals that each key has uploaded today, for all gateways together.
///
/// Hash `minilab-gateway:{queue}:keys:uploads` has the bytes by key id, the day since 1970 as field `day`, and the moment of the day's first
/// upload as field `begun`. The first upload of a new day, by Redis' clock in UTC, empties the hash. So it has one field per
/// key that was used today.
package struct UploadMeter: Sendable {
    private let redis: RedisClient
    private let queue: QueueName

    package enum Answer: Sendable, Equatable {
        /// The upload is allowed; `left` is the number of bytes left today.
        case allowed(left: Int, Charge)
        /// The upload would exceed the key's quota of today; the next day begins after this number of seconds.
        case refused(left: Int, retryAfterSeconds: Int)
    }

    /// Bytes that were counted, and the count of which they are a part.
    package struct Charge: Sendable, Equatable {
        let keyID: String
        let bytes: Int
        /// The moment at which the day's count began, µs since 1970: it names the count also where the hash was emptied by a hand.
        let begun: Int
    }

    private let bytesPerDay: Int

    /// - Parameter bytesPerDay: The most bytes a day of a key without a quota of its own.
    package init(redis: RedisClient, queue: QueueName, bytesPerDay: Int) {
        self.redis = redis
        self.queue = queue
        self.bytesPerDay = bytesPerDay
    }

    /// Counts an upload before it begins.
    ///
    /// - Throws: `redis`.
    package func charge(_ bytes: Int, to key: AccessKey) async throws(KeyError) -> Answer {
        // Twice the largest quota is below 2^53, up to which Lua's numbers are exact.
        let bytes = max(0, min(bytes, KeyQuotas.bytesMax + 1))
        let fields = try await run(
            key.id, bytes, most: key.quotas.uploadBytesPerDay ?? bytesPerDay, begun: nil)
        return fields[0] == 1
            ? .allowed(left: fields[1], Charge(keyID: key.id, bytes: bytes, begun: fields[3]))
            : .refused(left: fields[1], retryAfterSeconds: fields[2])
    }

    /// Returns the bytes of an upload that failed to the count of their day. On a later day nothing is changed.
    ///
    /// - Parameter kept: those of the bytes that stay counted, because they arrived and cost work.
    /// - Throws: `redis`.
    package func refund(_ charge: Charge, keeping kept: Int = 0) async throws(KeyError) {
        guard charge.bytes > kept else { return }
        _ = try await run(
            charge.keyID, kept - charge.bytes, most: KeyQuotas.bytesMax, begun: charge.begun)
    }

    private func run(
        _ keyID: String, _ bytes: Int, most: Int, begun: Int?
    ) async throws(KeyError) -> [Int] {
        let reply: RedisReply
        do {
            reply = try await redis.run(
                Self.script, keys: [queue.gatewayKeys.uploads],
                arguments: [
                    RedisArgument(keyID), RedisArgument(bytes), RedisArgument(most),
                    RedisArgument(begun.map { "\($0)" } ?? ""),
                ])
        } catch {
            throw KeyError(.redis, "the uploads of queue \(queue): \(error)", cause: error)
        }
        guard let fields = reply.array?.compactMap(\.int), fields.count == 4 else {
            throw KeyError(.redis, "the uploads of queue \(queue): the answer was \(reply).")
        }
        return fields.map { Int($0) }
    }

    private static let script = RedisScript(
        name: "charge_upload",
        source: """
            #!lua
            -- KEYS   the hash
            -- ARGV   key id, bytes, most bytes a day, for a refund the count of its charge, otherwise ``
            -- Returns {1 or 0: whether the upload may continue, bytes that are left today, seconds until tomorrow,
            --        when the day's count began in µs}
            -- Crash  The reset for a new day comes first. Apart from that, the script writes everything or nothing.
            local time = redis.call('TIME')
            local now = tonumber(time[1])
            local day = string.format('%d', math.floor(now / 86400))
            local count = redis.call('HMGET', KEYS[1], 'day', 'begun')
            local begun = count[2]
            if count[1] ~= day or not begun then
              begun = string.format('%d', now * 1000000 + tonumber(time[2]))
              redis.call('UNLINK', KEYS[1])
              redis.call('HSET', KEYS[1], 'day', day, 'begun', begun)
            end
            if ARGV[4] ~= '' and ARGV[4] ~= begun then return {0, 0, 0, tonumber(begun)} end
            local used = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
            local most, sum = tonumber(ARGV[3]), math.max(0, used + tonumber(ARGV[2]))
            if sum > most then return {0, math.max(0, most - used), 86400 - now % 86400, tonumber(begun)} end
            redis.call('HSET', KEYS[1], ARGV[1], string.format('%d', sum))
            return {1, most - sum, 0, tonumber(begun)}
            """)
}
