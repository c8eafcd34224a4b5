import AccessKeys
import FoundationEssentials
package import JobQueue
package import Redis

/// The log of the changes made through gateways, with the actor of each: a bounded stream in Redis, for operators.
package struct AuditLog: Sendable {
    /// The approximate number of entries that are kept.
    package static let keptMax = 10_000
    /// The most entries of one page.
    static let pageMax = 200

    private let redis: RedisClient
    private let queue: QueueName

    package init(redis: RedisClient, queue: QueueName) {
        self.redis = redis
        self.queue = queue
    }

    /// The actor of a change.
    struct Doer: Sendable {
        let key: AccessKey
        /// The person, as the identity provider named them; nil for a caller that presented the key itself.
        let person: String?
    }

    /// One change.
    struct Entry: Encodable, Sendable {
        /// The entry's id in the stream.
        let id: String
        /// The time in ms since 1970.
        let at: Int
        /// The id of the key.
        let key: String
        /// The label of the key.
        let label: String
        /// The person who acted with the key, if an identity provider named one.
        let person: String?
        /// The kind of change, such as `cancelTenant`.
        let action: String
        /// The changed object, and the extent of the change.
        let detail: String

        /// The person and the key, as text for people.
        var who: String {
            let name = label.isEmpty ? key : label
            return person.map { "\($0) (\(name))" } ?? name
        }
    }

    /// Records a change.
    func note(_ action: String, _ detail: String, by doer: Doer) async throws {
        let person: [RedisArgument] = doer.person.map { ["person", RedisArgument($0)] } ?? []
        _ = try await send(
            [
                "XADD", RedisArgument(queue.keys.audit), "MAXLEN", "~",
                RedisArgument(Self.keptMax), "*",
                "key", RedisArgument(doer.key.id), "label", RedisArgument(doer.key.label), "deed",
                RedisArgument(action), "detail", RedisArgument(String(detail.prefix(1000))),
            ] + person)
    }

    /// Returns entries before a position, the newest first.
    func page(before position: StreamID?, count: Int) async throws -> [Entry] {
        let reply = try await send([
            "XREVRANGE", RedisArgument(queue.keys.audit),
            RedisArgument(position.map { "(\($0)" } ?? "+"), "-", "COUNT",
            RedisArgument(min(count, Self.pageMax)),
        ])
        return (reply.array ?? []).compactMap { row in
            guard let id = row.array?.first?.string, let position = StreamID(id),
                let fields = row.array?.last?.pairs
            else { return nil }
            return Entry(
                id: id, at: Int(position.milliseconds), key: fields["key"] ?? "",
                label: fields["label"] ?? "", person: fields["person"],
                action: fields["deed"] ?? "",
                detail: fields["detail"] ?? "")
        }
    }

    private func send(_ command: [RedisArgument]) async throws -> RedisReply {
        do {
            return try await redis.send(command)
        } catch {
            throw Problem(
                .queueUnavailable, "The queue does not answer now; try again.",
                retryAfter: Problem.retrySeconds)
        }
    }
}
