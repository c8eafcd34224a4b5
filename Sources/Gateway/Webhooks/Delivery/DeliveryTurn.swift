import Redis

/// One step of an endpoint's delivery in Redis: acquires or renews the lease, and records the result of a message.
struct DeliveryTurn: Sendable {
    /// The maximum number of an endpoint's messages that wait for another attempt, some 100 bytes each.
    static let parkedMax = 10_000
    /// The number of deliveries that are remembered.
    static let outcomesMax = 100

    /// The changes to record.
    struct Change: Sendable {
        /// The position in the event stream; nil leaves it unchanged.
        var cursor: String?
        /// A parked message that was tried again.
        var unpark: ParkedMessage?
        /// A message that is tried again after a delay.
        var park: (message: ParkedMessage, after: Duration)?
        /// The result of the attempt, in JSON.
        var outcome: [UInt8]?
        /// Whether the endpoint accepted the message; nil if nothing was sent.
        var isAccepted: Bool?
    }

    /// The progress of an endpoint.
    struct Progress: Sendable, Equatable {
        /// The token that every further write must contain.
        let fence: String
        let cursor: String
        /// The number of failed attempts since the last success.
        let failures: Int
        /// The time since which no message was accepted, ms since 1970; nil if the last one was.
        let failingSince: Int?
        /// The next message to try again.
        let next: ParkedMessage?
        /// The time until it is due.
        let dueIn: Duration?
        /// Redis' time, ms since 1970.
        let now: Int
        /// The number of parked messages.
        let parked: Int
    }

    enum Answer: Sendable, Equatable {
        case own(Progress)
        /// Another gateway delivers; its lease expires after this time.
        case held(Duration)
        /// The lease was lost: another gateway holds it, or the cursor was moved.
        case fenced
        /// The endpoint does not exist any more.
        case gone
        /// Another parked message would exceed the maximum.
        case full
    }

    static let script = RedisScript(
        name: "deliver",
        source: """
            #!lua flags=allow-oom
            -- KEYS   hash state, zset parked, list deliveries, hash webhooks
            -- ARGV   endpoint, name of the caller, fence or `` to acquire the lease, lease (ms), cursor or ``, message to unpark or ``,
            --        message to park or ``, its delay (ms), most parked, outcome or ``, 1 accepted 0 failed or ``, most outcomes
            -- Returns {HELD, ms} · {FENCED} · {GONE} · {FULL} ·
            --        {OWN, fence, cursor, failures, failing since or ``, next message or ``, due in ms, now, parked}
            -- Crash  All checks precede the writes. If the same caller acquires a lease twice, it is the same lease.
            local S, call = KEYS[1], redis.call
            local function int(n) return string.format('%d', n) end
            local t = call('TIME')
            local us = t[1] * 1000000 + t[2]
            local now = math.floor(us / 1000)
            -- The endpoint's time: the server's, but it continues when the server's clock is set back.
            local at = call('HMGET', S, 'at', 'shift')
            local shift = tonumber(at[2] or '0')
            local time = now + shift
            if at[1] and time < tonumber(at[1]) then
              shift, time = shift + at[1] - time, tonumber(at[1])
              call('HSET', S, 'shift', int(shift))
            end
            if call('HEXISTS', KEYS[4], ARGV[1]) == 0 then return {'GONE'} end
            local has = call('HMGET', S, 'owner', 'until', 'fence')
            local fence = ARGV[3]
            if fence == '' then
              local ends = tonumber(has[2] or '0')
              if has[1] and has[1] ~= '' and has[1] ~= ARGV[2] and ends > time then
                return {'HELD', int(ends - time)}
              end
              fence = int(math.max(us, (tonumber(has[3] or '') or 0) + 1))
            elseif has[3] ~= fence then return {'FENCED'} end
            if ARGV[7] ~= '' and ARGV[6] == '' and call('ZCARD', KEYS[2]) >= tonumber(ARGV[9]) then
              return {'FULL'}
            end
            call('HSET', S, 'owner', ARGV[2], 'until', int(time + tonumber(ARGV[4])), 'fence', fence, 'at', int(time))
            if ARGV[5] ~= '' then call('HSET', S, 'cursor', ARGV[5]) end
            if ARGV[6] ~= '' then call('ZREM', KEYS[2], ARGV[6]) end
            if ARGV[7] ~= '' then call('ZADD', KEYS[2], int(time + tonumber(ARGV[8])), ARGV[7]) end
            if ARGV[10] ~= '' then
              call('LPUSH', KEYS[3], ARGV[10])
              call('LTRIM', KEYS[3], '0', int(tonumber(ARGV[12]) - 1))
            end
            if ARGV[11] == '1' then
              call('HDEL', S, 'failingSince', 'failures')
              call('HINCRBY', S, 'taken', '1')
            elseif ARGV[11] == '0' then
              call('HSETNX', S, 'failingSince', int(now))
              call('HINCRBY', S, 'failures', '1')
              call('HINCRBY', S, 'failed', '1')
            end
            local is = call('HMGET', S, 'cursor', 'failures', 'failingSince')
            local next = call('ZRANGE', KEYS[2], '0', '0', 'WITHSCORES')
            return {'OWN', fence, is[1] or '0', is[2] or '0', is[3] or '', next[1] or '',
              int(next[2] and math.max(0, next[2] - time) or 0), int(now), int(call('ZCARD', KEYS[2]))}
            """)
}
