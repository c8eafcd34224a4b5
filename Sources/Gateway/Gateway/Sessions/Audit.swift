import AccessKeys
import Edits
import FoundationEssentials
package import JobQueue
package import Logging
package import Redis

/// The log of the changes made through gateways, with the actor of each: bounded streams in Redis, for operators.
///
/// Operators have one stream and each tenant has its own, so no tenant can push out what others did. What a tenant pushes out of its own
/// is still in the gateway's log, at `notice`.
package struct AuditLog: Sendable {
    /// The approximate number of operators' entries that are kept.
    package static let keptMax = 10_000
    /// The approximate number of entries of a tenant that are kept: some 250 KB.
    package static let ofTenantMax = 1_000
    static let pageMax = 200

    private let redis: RedisClient
    private let queue: QueueName
    private let logger: Logger

    package init(redis: RedisClient, queue: QueueName, logger: Logger) {
        self.redis = redis
        self.queue = queue
        self.logger = logger
    }

    struct Doer: Sendable {
        let key: AccessKey
        /// The person, as the identity provider named them; nil for a caller that presented the key itself.
        let person: String?
    }

    struct Entry: Encodable, Sendable {
        /// The entry's id in the stream.
        let id: String
        /// The time in ms since 1970.
        let at: Int
        let key: String
        let label: String
        /// The person who acted with the key, if an identity provider named one.
        let person: String?
        /// The kind of change, such as `cancelBatch`.
        let action: String
        /// The changed object, and the extent of the change.
        let detail: String

        /// The person and the key, as text for people.
        var who: String {
            let name = label.isEmpty ? key : label
            return person.map { "\($0) (\(name))" } ?? name
        }
    }

    func note(_ action: String, _ detail: String, by doer: Doer) async throws {
        let tenant = doer.key.tenant?.string
        let detail = String(detail.prefix(1000))
        var metadata: Logger.Metadata = [
            "key": "\(doer.key.id)", "deed": "\(action)", "detail": "\(detail.printable)",
        ]
        metadata["tenant"] = tenant.map { "\($0)" }
        metadata["person"] = doer.person.map { "\($0.printable)" }
        logger.notice("a deed", metadata: metadata)
        let person: [RedisArgument] = doer.person.map { ["person", RedisArgument($0)] } ?? []
        do {
            _ = try await redis.run(
                Self.script, keys: [queue.keys.audit(of: tenant)],
                arguments: [
                    RedisArgument(tenant == nil ? Self.keptMax : Self.ofTenantMax),
                    "key", RedisArgument(doer.key.id), "label", RedisArgument(doer.key.label),
                    "deed", RedisArgument(action), "detail", RedisArgument(detail),
                ] + person)
        } catch {
            throw Self.unavailable
        }
    }

    /// It also runs while Redis is full: what an operator does then is done, and must not be told as a failure.
    private static let script = RedisScript(
        name: "note_deed",
        source: """
            #!lua flags=allow-oom
            -- KEYS   the stream
            -- ARGV   most entries, (name, value)*
            -- Returns the entry's id
            -- Crash  The entry is there or not.
            return redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', unpack(ARGV, 2))
            """)

    /// Returns entries of a tenant's keys before a position, the newest first; those of operators without a tenant.
    func page(
        of tenant: String?, before position: StreamID?, count: Int
    ) async throws -> [Entry] {
        let reply = try await send([
            "XREVRANGE", RedisArgument(queue.keys.audit(of: tenant)),
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
            throw Self.unavailable
        }
    }

    private static var unavailable: Problem {
        Problem(
            .queueUnavailable, "The queue does not answer now; try again.",
            retryAfter: Problem.retrySeconds)
    }
}
