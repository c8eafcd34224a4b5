import JobQueue
import Redis

/// Waits for new events and for changes of endpoints, with one blocking read of both streams.
actor WebhookChangeReader {
    /// The changes that a wait returned.
    struct Changes: Sendable {
        /// The id of the newest event, if any arrived.
        var newest: String?
        /// The endpoints that were created, changed, removed or set back.
        var endpoints: Set<String> = []
    }

    private let queue: QueueName
    private let redis: RedisClient
    /// The last entries that were read, of events and of the control stream; nil before the start and after a failure.
    private var heard: (events: String, control: String)?

    init(queue: QueueName, redis: RedisClient) {
        self.queue = queue
        self.redis = redis
    }

    /// Finds the newest entries. Earlier changes are known from the records.
    func start() async throws(WebhookError) {
        if heard != nil { return }
        heard = (try await newest(queue.keys.events), try await newest(queue.keys.control))
    }

    func wait(atMost time: Duration) async throws(WebhookError) -> Changes {
        guard let before = heard else { return Changes() }
        heard = nil
        let reply = try await send(
            [
                "XREAD", "COUNT", "100", "BLOCK", RedisArgument(max(1, time.milliseconds)),
                "STREAMS",
                RedisArgument(queue.keys.events), RedisArgument(queue.keys.control),
                RedisArgument(before.events), RedisArgument(before.control),
            ], timeout: time + .seconds(5))
        var now = before
        var changes = Changes()
        for stream in reply.array ?? [] {
            guard let key = stream.array?.first?.string, let rows = stream.array?.last?.array,
                let last = rows.last?.array?.first?.string
            else { continue }
            if key == queue.keys.events {
                // Couriers read all available events, so those that arrived together must not cause another wake-up.
                now.events = rows.count < 100 ? last : try await newest(queue.keys.events)
                changes.newest = now.events
            } else {
                now.control = last
                changes.endpoints = Set(
                    rows.compactMap { row in
                        let fields = row.array?.last?.array ?? []
                        return fields.first?.string == "webhook" ? fields.last?.string : nil
                    })
            }
        }
        heard = now
        return changes
    }

    private func newest(_ key: String) async throws(WebhookError) -> String {
        try await send(["XREVRANGE", RedisArgument(key), "+", "-", "COUNT", "1"])
            .array?.first?.array?.first?.string ?? EventReader.beginning
    }

    private func send(
        _ command: [RedisArgument], timeout: Duration? = nil
    ) async throws(WebhookError) -> RedisReply {
        do {
            return try await redis.send(command, timeout: timeout)
        } catch {
            throw WebhookError(.redis, "listening to queue \(queue): \(error)", cause: error)
        }
    }
}
