import AccessKeys
import FoundationEssentials
package import JobQueue
package import Redis

/// The changes that were made through gateways, and by whom: a bounded stream in Redis, read by operators.
package struct AuditLog: Sendable {
    /// About how many entries are kept.
    package static let keptMax = 10_000
    /// Most entries of one page.
    static let pageMax = 200

    private let redis: RedisClient
    private let queue: QueueName

    package init(redis: RedisClient, queue: QueueName) {
        self.redis = redis
        self.queue = queue
    }

    /// The doer of a deed.
    struct Doer: Sendable {
        let key: AccessKey
        /// The person whom an identity provider named; nil for who has shown the key itself.
        let person: String?
    }

    /// One deed.
    struct Entry: Encodable, Sendable {
        /// Its place in the stream.
        let id: String
        /// When, ms since 1970.
        let at: Int
        /// The key, by id.
        let key: String
        /// The name of the key for people.
        let label: String
        /// The person who acted with it, if an identity provider named one.
        let person: String?
        /// Such as `cancelTenant`.
        let deed: String
        /// The object of the deed, and how much.
        let detail: String

        /// The person and the key, for people.
        var who: String {
            let name = label.isEmpty ? key : label
            return person.map { "\($0) (\(name))" } ?? name
        }
    }

    /// Notes a deed that was done.
    func note(_ deed: String, _ detail: String, by doer: Doer) async throws {
        let person: [RedisArgument] = doer.person.map { ["person", RedisArgument($0)] } ?? []
        _ = try await send(
            [
                "XADD", RedisArgument(queue.keys.audit), "MAXLEN", "~",
                RedisArgument(Self.keptMax), "*",
                "key", RedisArgument(doer.key.id), "label", RedisArgument(doer.key.label), "deed",
                RedisArgument(deed), "detail", RedisArgument(String(detail.prefix(1000))),
            ] + person)
    }

    /// Entries, the newest first, before a place.
    func page(before place: StreamID?, count: Int) async throws -> [Entry] {
        let reply = try await send([
            "XREVRANGE", RedisArgument(queue.keys.audit),
            RedisArgument(place.map { "(\($0)" } ?? "+"), "-", "COUNT",
            RedisArgument(min(count, Self.pageMax)),
        ])
        return (reply.array ?? []).compactMap { row in
            guard let id = row.array?.first?.string, let place = StreamID(id),
                let fields = row.array?.last?.pairs
            else { return nil }
            return Entry(
                id: id, at: Int(place.milliseconds), key: fields["key"] ?? "",
                label: fields["label"] ?? "", person: fields["person"], deed: fields["deed"] ?? "",
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
