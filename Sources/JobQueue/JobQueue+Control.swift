public import Adjustments
public import Redis

/// What holds for a whole queue, at once and for all workers.
public enum QueueRule: Sendable {
    /// No job is claimed, for this reason; nil lets claims go on.
    case paused(String?)
    /// How many jobs of one tenant run at the same time; nil is no limit. 0 pauses the tenant. Without a
    /// tenant it is that of all who have none of their own.
    case cap(JobID?, Int?)
    /// A tenant's share beside the others'; nil is 1.
    case weight(JobID, Int?)

    /// Highest cap and weight.
    public static let numberMax = 1_000_000
    /// Longest reason for a pause or a cancellation, in bytes.
    public static let reasonBytesMax = 1024

    fileprivate var words: [RedisArgument] {
        switch self {
        case .paused(let reason): ["paused", RedisArgument(reason ?? "")]
        case .cap(let tenant, let number):
            [RedisArgument(tenant.map { "cap:\($0)" } ?? "cap"), Self.text(number)]
        case .weight(let tenant, let number):
            [RedisArgument("weight:\(tenant)"), Self.text(number)]
        }
    }

    private static func text(_ number: Int?) -> RedisArgument {
        RedisArgument(number.map { "\($0)" } ?? "")
    }
}

/// A message to workers and gateways that they hear at once, beside what workers hear with their next heartbeat.
public enum ControlMessage: Sendable, Equatable {
    /// A job was cancelled.
    case job(String)
    /// All jobs of a batch were cancelled.
    case batch(String)
    /// Rules of the queue changed.
    case rules
    /// A key of a gateway's client was made, revoked or dropped.
    case key(String)
}

extension JobQueue {
    /// Changes rules of the queue.
    public func set(_ rules: [QueueRule]) async throws(QueueError) {
        _ = try await run(QueueScript.configure, rules.flatMap(\.words))
    }

    /// Waits for what workers are told next, at most for a time.
    ///
    /// - Parameters:
    ///   - position: the last entry that was read; `$` for none yet. Moves on.
    ///   - ear: a client of its own, because the wait blocks its connection.
    public func listen(
        from position: inout String, atMost time: Duration, ear: RedisClient
    ) async throws(QueueError) -> [ControlMessage] {
        let reply: RedisReply
        do {
            reply = try await ear.send(
                [
                    "XREAD", "COUNT", "100", "BLOCK", RedisArgument(max(1, time.milliseconds)),
                    "STREAMS", RedisArgument(name.keys.control), RedisArgument(position),
                ], timeout: time + .seconds(5))
        } catch {
            throw QueueError(.redis, "listening to queue \(name) failed: \(error)", cause: error)
        }
        var messages: [ControlMessage] = []
        for entry in reply.array?.first?.array?.last?.array ?? [] {
            guard let id = entry.array?.first?.string, let fields = entry.array?.last?.pairs else {
                throw QueueError(.unexpectedReply, "the control stream of \(name) has \(entry).")
            }
            position = id
            // What a newer version of minilab says and this one does not know is not for it.
            for (key, value) in fields {
                switch key {
                case "job": messages.append(.job(value))
                case "batch": messages.append(.batch(value))
                case "config": messages.append(.rules)
                case "key": messages.append(.key(value))
                default: break
                }
            }
        }
        return messages
    }

    /// The newest place in the control stream: what was said before is known from the jobs themselves.
    public func controlPosition() async throws(QueueError) -> String {
        let newest = try await send([
            "XREVRANGE", RedisArgument(name.keys.control), "+", "-", "COUNT", "1",
        ])
        return newest.array?.first?.array?.first?.string ?? "0"
    }
}
