import Edits
import FoundationEssentials
import JobQueue
import Redis

/// One step of an endpoint's delivery in Redis: acquires or renews the lease, and records the result of a message.
struct DeliveryTurn: Sendable {
    /// The maximum number of an endpoint's messages that wait for another attempt, some 100 bytes each.
    static let parkedMax = 10_000

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

    struct Progress: Sendable, Equatable {
        /// The token that every further write must contain.
        let fence: String
        let cursor: String
        /// The number of failed attempts since the last success.
        let failures: Int
        /// The time since which no message was accepted, ms since 1970, later by what exceeds a day between two tries; nil if the last
        /// one was.
        let failingSince: Int?
        /// The next message to try again.
        let next: ParkedMessage?
        /// The time until it is due.
        let dueIn: Duration?
        /// Redis' time, ms since 1970.
        let now: Int
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
            local S, call, DAY = KEYS[1], redis.call, 86400000
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
              call('HDEL', S, 'failingSince', 'failedAt', 'failures')
              call('HINCRBY', S, 'taken', '1')
            elseif ARGV[11] == '0' then
              -- Of a time without a try, a day counts at most: an endpoint refuses nothing meanwhile, and the clock may have leapt.
              local was = call('HMGET', S, 'failingSince', 'failedAt')
              local since, idle = tonumber(was[1] or now), now - tonumber(was[2] or now)
              call('HSET', S, 'failingSince', int(math.min(now, since + math.max(0, idle - DAY) + math.min(0, idle))),
                'failedAt', int(now))
              call('HINCRBY', S, 'failures', '1')
              call('HINCRBY', S, 'failed', '1')
            end
            local is = call('HMGET', S, 'cursor', 'failures', 'failingSince')
            local next = call('ZRANGE', KEYS[2], '0', '0', 'WITHSCORES')
            return {'OWN', fence, is[1] or '0', is[2] or '0', is[3] or '', next[1] or '',
              int(next[2] and math.max(0, next[2] - time) or 0), int(now), int(call('ZCARD', KEYS[2]))}
            """)
}

/// A failed message that is retried: its subject and the number of failed attempts. It is a member of a zset.
///
/// The event itself stays in the event stream; if it is trimmed there, a gap is reported in its place.
struct ParkedMessage: Sendable, Hashable {
    /// The subject of the message.
    enum Subject: Sendable, Hashable {
        /// An entry of the event stream.
        case entry(String)
        /// Events that were trimmed: after the first id, before the second.
        case gap(from: String, to: String)
    }

    let subject: Subject
    let failures: Int

    /// `3 1763700000000-0`, `1 1763700000000-0 1763800000000-0`.
    var text: String {
        switch subject {
        case .entry(let id): "\(failures) \(id)"
        case .gap(let from, let to): "\(failures) \(from) \(to)"
        }
    }

    init(_ subject: Subject, failures: Int) {
        self.subject = subject
        self.failures = failures
    }

    init?(_ text: String) {
        let fields = text.split(separator: " ").map(String.init)
        guard (2...3).contains(fields.count), let failures = Int(fields[0]), failures >= 0 else {
            return nil
        }
        self.failures = failures
        subject = fields.count == 2 ? .entry(fields[1]) : .gap(from: fields[1], to: fields[2])
    }
}

/// One gateway's access to the ``DeliveryTurn`` of an endpoint.
struct DeliveryLedger: Sendable {
    let redis: RedisClient
    let queue: QueueName
    let endpoint: String
    /// The name of this gateway among others: random, so that no lease survives a restart.
    let owner: String
    let lease: Duration

    /// - Parameter fence: The fence of the lease; nil takes the lease.
    /// - Throws: `redis`.
    func turn(
        fence: String?, _ change: DeliveryTurn.Change = .init(), lease: Duration? = nil
    ) async throws(WebhookError) -> DeliveryTurn.Answer {
        let keys =
            ["state", "parked", "deliveries"].map { queue.gatewayKeys.webhook(endpoint, $0) }
            + [queue.gatewayKeys.webhooks]
        let accepted = change.isAccepted.map { $0 ? "1" : "0" }
        let reply: RedisReply
        do {
            reply = try await redis.run(
                DeliveryTurn.script, keys: keys,
                arguments: [
                    RedisArgument(endpoint), RedisArgument(owner), RedisArgument(fence ?? ""),
                    RedisArgument((lease ?? self.lease).milliseconds),
                    RedisArgument(change.cursor ?? ""),
                    RedisArgument(change.unpark?.text ?? ""),
                    RedisArgument(change.park?.message.text ?? ""),
                    RedisArgument(change.park?.after.milliseconds ?? 0),
                    RedisArgument(DeliveryTurn.parkedMax),
                    RedisArgument(change.outcome ?? []), RedisArgument(accepted ?? ""),
                    RedisArgument(WebhookDelivery.rememberedMax),
                ])
        } catch {
            throw WebhookError(.redis, "endpoint \(endpoint): \(error)", cause: error)
        }
        guard let answer = Self.read(reply.array ?? []) else {
            throw WebhookError(
                .redis,
                "script deliver answered \(reply) for endpoint \(endpoint), which this minilab does not know."
            )
        }
        return answer
    }

    /// Releases the lease, so that another gateway need not wait until it expires.
    ///
    /// - Throws: `redis`.
    func release(fence: String) async throws(WebhookError) {
        _ = try await turn(fence: fence, lease: .zero)
    }

    private static func read(_ fields: [RedisReply]) -> DeliveryTurn.Answer? {
        switch (fields.first?.string, fields.count) {
        case ("HELD", 2): fields[1].int.map { .held(.milliseconds($0)) }
        case ("FENCED", 1): .fenced
        case ("GONE", 1): .gone
        case ("FULL", 1): .full
        case ("OWN", 9): progress(fields).map { .own($0) }
        default: nil
        }
    }

    private static func progress(_ fields: [RedisReply]) -> DeliveryTurn.Progress? {
        guard let fence = fields[1].string, let cursor = fields[2].string,
            let failures = fields[3].int, let next = fields[5].string, let due = fields[6].int,
            let now = fields[7].int, let parked = fields[8].int
        else { return nil }
        let message = ParkedMessage(next)
        return DeliveryTurn.Progress(
            fence: fence, cursor: cursor, failures: Int(failures),
            failingSince: fields[4].int.map { Int($0) }, next: message,
            dueIn: message == nil ? nil : .milliseconds(due), now: Int(now), parked: Int(parked))
    }
}

extension Duration {
    var milliseconds: Int { Int(self / .milliseconds(1)) }
}

/// The CloudEvents that webhooks themselves create: a gap, and a test.
struct WebhookEvent: Encodable {
    let specversion = "1.0"
    let id: String
    let source: String
    let type: String
    let time: String
    let datacontenttype = "application/json"
    let data: Data

    /// The data: the endpoint, and for a gap the ids of the event stream before and after it.
    struct Data: Encodable {
        let endpoint: String
        var from: String?
        var to: String?
    }

    /// Creates the event of a gap: events after `from` and before `to` were trimmed before they could be delivered.
    static func gap(
        from: String, to: String, endpoint: String, queue: QueueName, at milliseconds: Int
    ) -> WebhookEvent {
        WebhookEvent(
            id: "\(queue)/webhook/\(endpoint)/gap/\(from)/\(to)", source: "minilab/\(queue)",
            type: WebhookEventTypes.gap, time: time(milliseconds),
            data: Data(endpoint: endpoint, from: from, to: to))
    }

    /// Creates a test event, which a client requested.
    static func test(endpoint: String, queue: QueueName, at milliseconds: Int) -> WebhookEvent {
        WebhookEvent(
            id: "\(queue)/webhook/\(endpoint)/test/\(UInt64.random(in: 0...UInt64.max))",
            source: "minilab/\(queue)", type: WebhookEventTypes.test, time: time(milliseconds),
            data: Data(endpoint: endpoint))
    }

    /// - Throws: `damagedEndpoint`, which does not occur for events that contain only text.
    func json() throws(WebhookError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self))
        } catch {
            throw WebhookError(.damagedEndpoint, "event \(id) cannot be written as JSON: \(error)")
        }
    }

    private static func time(_ milliseconds: Int) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
