package import JobQueue
package import Redis

/// The bytes of originals that each key has uploaded today, for all gateways together.
///
/// Hash `minilab:{queue}:keys:uploads` has the bytes by key id, and the day since 1970 as field `day`. The first upload of
/// a new day, by Redis' clock in UTC, empties the hash. So it has one field per key that was used today.
package struct UploadMeter: Sendable {
    private let redis: RedisClient
    private let queue: QueueName

    /// The decision about an upload.
    package enum Answer: Sendable, Equatable {
        /// The upload is allowed; the value is the number of bytes left today, nil without a limit.
        case allowed(left: Int?)
        /// The upload would exceed the key's quota of today; the next day begins after this number of seconds.
        case refused(left: Int, retryAfterSeconds: Int)
    }

    package init(redis: RedisClient, queue: QueueName) {
        self.redis = redis
        self.queue = queue
    }

    /// Counts an upload before it begins. For a failed upload, a call with the negative number returns the bytes.
    ///
    /// - Throws: `redis`.
    package func charge(_ bytes: Int, to key: AccessKey) async throws(KeyError) -> Answer {
        guard let most = key.quotas.uploadBytesPerDay else { return .allowed(left: nil) }
        let reply: RedisReply
        do {
            reply = try await redis.run(
                Self.script, keys: [queue.keys.uploads],
                arguments: [
                    RedisArgument(key.id),
                    // Twice the largest quota is below 2^53, up to which Lua's numbers are exact.
                    RedisArgument(max(-KeyQuotas.bytesMax, min(bytes, KeyQuotas.bytesMax + 1))),
                    RedisArgument(most),
                ])
        } catch {
            throw KeyError(.redis, "the uploads of queue \(queue): \(error)", cause: error)
        }
        guard let fields = reply.array?.compactMap(\.int), fields.count == 3 else {
            throw KeyError(.redis, "the uploads of queue \(queue): the answer was \(reply).")
        }
        return fields[0] == 1
            ? .allowed(left: Int(fields[1]))
            : .refused(left: Int(fields[1]), retryAfterSeconds: Int(fields[2]))
    }

    private static let script = RedisScript(
        name: "charge_upload",
        source: """
            #!lua
            -- KEYS   the hash
            -- ARGV   key id, bytes, most bytes a day
            -- Returns {1 or 0: whether the upload may continue, bytes that are left today, seconds until tomorrow}
            -- Crash  The reset for a new day comes first. Apart from that, the script writes everything or nothing.
            local now = tonumber(redis.call('TIME')[1])
            local day = string.format('%d', math.floor(now / 86400))
            if redis.call('HGET', KEYS[1], 'day') ~= day then
              redis.call('UNLINK', KEYS[1])
              redis.call('HSET', KEYS[1], 'day', day)
            end
            local used = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
            local most, sum = tonumber(ARGV[3]), math.max(0, used + tonumber(ARGV[2]))
            if sum > most then return {0, math.max(0, most - used), 86400 - now % 86400} end
            redis.call('HSET', KEYS[1], ARGV[1], string.format('%d', sum))
            return {1, most - sum, 0}
            """)
}
