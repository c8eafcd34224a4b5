import JobQueue
import Redis

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
        let keys = [
            queue.keys.webhook(endpoint, "state"), queue.keys.webhook(endpoint, "parked"),
            queue.keys.webhook(endpoint, "deliveries"), queue.keys.webhooks,
        ]
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
                    RedisArgument(DeliveryTurn.outcomesMax),
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
