import AccessKeys
import Edits
import FoundationEssentials
package import JobQueue
package import Logging
import Operations
package import Redis

/// The ``AuditStream`` as gateways write and read it. What a tenant pushes out of its own stream is still in the gateway's log, at
/// `notice`.
package struct AuditLog: Sendable {
    static let pageMax = 200

    private let redis: RedisClient
    private let queue: QueueName
    private let logger: Logger
    private let stream: AuditStream

    package init(redis: RedisClient, queue: QueueName, logger: Logger) {
        self.redis = redis
        self.queue = queue
        self.logger = logger
        stream = AuditStream(redis: redis, at: queue.gatewayKeys)
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
        let detail = String(detail.prefix(AuditStream.detailLengthMax))
        var metadata: Logger.Metadata = [
            "key": "\(doer.key.id)", "deed": "\(action)", "detail": "\(detail.printable)",
        ]
        metadata["tenant"] = tenant.map { "\($0)" }
        metadata["person"] = doer.person.map { "\($0.printable)" }
        logger.notice("a deed", metadata: metadata)
        do {
            try await stream.add(
                action, detail,
                by: .init(key: doer.key.id, label: doer.key.label, person: doer.person),
                of: tenant)
        } catch {
            throw Self.unavailable
        }
    }

    /// Returns entries of a tenant's keys before a position, the newest first; those of operators without a tenant.
    func page(
        of tenant: String?, before position: StreamID?, count: Int
    ) async throws -> [Entry] {
        let reply = try await send([
            "XREVRANGE", RedisArgument(queue.gatewayKeys.audit(of: tenant)),
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
