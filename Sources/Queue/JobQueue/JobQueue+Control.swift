public import Edits
package import Redis

/// A rule that applies to a whole queue, at once and for all workers.
public enum QueueRule: Sendable {
    /// No job is claimed, for this reason; nil resumes claims.
    case paused(String?)
    /// The maximum number of running jobs of one tenant; nil means no limit, and 0 pauses the tenant. Without a tenant, it is
    /// the limit of all tenants that have no limit of their own.
    case cap(JobID?, Int?)
    /// The weight of a tenant in fair queuing; nil is 1.
    case weight(JobID, Int?)

    /// The maximum cap and weight.
    public static let numberMax = 1_000_000
    /// The maximum length of a reason for a pause or a cancellation, in bytes.
    public static let reasonBytesMax = 1024

    fileprivate var arguments: [any Arguments] {
        switch self {
        case .paused(let reason): ["paused", reason]
        case .cap(let tenant, let number): [tenant.map { "cap:\($0)" } ?? "cap", number]
        case .weight(let tenant, let number): ["weight:\(tenant)", number]
        }
    }
}

/// A stream of control messages.
package enum ControlStream: Sendable {
    /// To workers: of jobs, batches and rules.
    case jobs
    /// To gateways: of their clients' keys and webhooks.
    case gateway

    func key(of queue: QueueName) -> String {
        switch self {
        case .jobs: queue.keys.control
        case .gateway: queue.gatewayKeys.control
        }
    }
}

/// A message that workers or gateways receive at once, before the next heartbeat.
public enum ControlMessage: Sendable, Equatable {
    case job(String)
    /// All jobs of a batch were cancelled.
    case batch(String)
    /// Rules of the queue changed.
    case rules
    /// A client's key of the gateway was created, revoked or dropped.
    case key(String)
    /// A webhook's endpoint was created, changed, removed or set back.
    case webhook(String)
}

extension JobQueue {
    public func set(_ rules: [QueueRule]) async throws(QueueError) {
        _ = try await run(
            QueueScript.configure, RedisArgument.list(rules.flatMap(\.arguments)))
    }

    /// Waits for the next control messages, at most for a time.
    ///
    /// - Parameters:
    ///   - position: The last entry that was read, or `$` for none. The method advances it.
    ///   - client: A client of its own, because the wait blocks its connection.
    package func listen(
        to stream: ControlStream, from position: inout String, atMost time: Duration,
        on client: RedisClient
    ) async throws(QueueError) -> [ControlMessage] {
        let reply: RedisReply
        do {
            reply = try await client.send(
                RedisArgument.list([
                    "XREAD", "COUNT", "100", "BLOCK", max(1, time.milliseconds), "STREAMS",
                    stream.key(of: name), position,
                ]), timeout: time + .seconds(5))
        } catch {
            throw QueueError(.redis, "listening to queue \(name) failed: \(error)", cause: error)
        }
        var messages: [ControlMessage] = []
        for entry in reply.array?.first?.array?.last?.array ?? [] {
            guard let id = entry.array?.first?.string, let fields = entry.array?.last?.pairs else {
                throw QueueError(.unexpectedReply, "the control stream of \(name) has \(entry).")
            }
            position = id
            // A message kind that only a newer version of minilab knows is ignored.
            for (key, value) in fields {
                switch key {
                case "job": messages.append(.job(value))
                case "batch": messages.append(.batch(value))
                case "config": messages.append(.rules)
                case "key": messages.append(.key(value))
                case "webhook": messages.append(.webhook(value))
                default: break
                }
            }
        }
        return messages
    }

    /// Returns the newest position in a control stream. The records that its messages are about already reflect all earlier ones.
    package func controlPosition(
        in stream: ControlStream
    ) async throws(QueueError) -> String {
        let newest = try await send("XREVRANGE", stream.key(of: name), "+", "-", "COUNT", "1")
        return newest.array?.first?.array?.first?.string ?? "0"
    }
}

/// The limits of one tenant; nil where none is set.
public struct TenantRules: Sendable, Codable, Equatable {
    /// The maximum number of its running jobs; 0 pauses the tenant.
    public var cap: Int?
    /// Its weight in fair queuing.
    public var weight: Int?
}

extension JobQueue {
    /// Returns the limits by tenant. Tenants without limits are left out.
    public func tenantRules() async throws(QueueError) -> [String: TenantRules] {
        let config = try await send("HGETALL", name.keys.config).pairs ?? [:]
        var rules: [String: TenantRules] = [:]
        for (key, value) in config {
            if let tenant = Self.tenant(of: key, "cap:") {
                rules[tenant, default: TenantRules()].cap = Int(value)
            } else if let tenant = Self.tenant(of: key, "weight:") {
                rules[tenant, default: TenantRules()].weight = Int(value)
            }
        }
        return rules
    }

    /// Returns the maximum number of running jobs of each tenant that has no cap of its own; nil for no limit.
    public func usualCap() async throws(QueueError) -> Int? {
        try await send("HGET", name.keys.config, "cap").string.flatMap { Int($0) }
    }

    /// Returns the number of jobs that workers hold, by tenant.
    public func runningByTenant() async throws(QueueError) -> [String: Int] {
        try await send("HGETALL", name.keys.running).pairs?
            .compactMapValues { Int($0) } ?? [:]
    }

    private static func tenant(of key: String, _ prefix: String) -> String? {
        key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count)) : nil
    }

    /// Returns the average cost of the last renders, in milliseconds of a slot; nil if none is known. See `Scripts/Shared/parts.lua`.
    package func meanCost() async throws(QueueError) -> Double? {
        let reply = try await send("HMGET", name.keys.virtual, "costMs", "costJobs")
        let costs = (reply.array ?? []).compactMap { $0.string.flatMap { Double($0) } }
        return costs.count == 2 && costs[1] > 0 ? costs[0] / costs[1] : nil
    }

    /// Returns the counts of events since the queue was created; ``QueueStatus/counters`` lists the names.
    public func counters() async throws(QueueError) -> [String: Int] {
        try await send("HGETALL", name.keys.counters).pairs?
            .compactMapValues { Int($0) } ?? [:]
    }
}
