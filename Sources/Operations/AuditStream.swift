package import JobQueue
package import Redis

/// The log of the changes that people made, with the actor of each: bounded streams in Redis, for operators.
///
/// Operators have one stream and each tenant has its own, so no tenant can push out what others did.
package struct AuditStream: Sendable {
    /// The approximate number of operators' entries that are kept.
    package static let keptMax = 10_000
    /// The approximate number of entries of a tenant that are kept: some 250 KB.
    package static let ofTenantMax = 1_000

    /// The actor of a change.
    package struct Actor: Sendable {
        /// The id of the key with which it was made, or ``command``.
        package let key: String
        /// The name of the key for people.
        package let label: String
        /// The person, if one is known.
        package let person: String?

        /// The place of a key's id for a change that a command made: it needs a password of Redis and no key.
        package static let command = "minilab"

        package init(key: String, label: String, person: String?) {
            (self.key, self.label, self.person) = (key, label, person)
        }
    }

    /// The length at which the detail of an entry is cut off.
    package static let detailLengthMax = 1000

    private let redis: RedisClient
    private let keys: GatewayKeys

    /// - Parameter keys: The place of the streams.
    package init(redis: RedisClient, at keys: GatewayKeys) {
        self.redis = redis
        self.keys = keys
    }

    /// Appends an entry.
    ///
    /// - Parameters:
    ///   - action: The kind of change, such as `cancelBatch`.
    ///   - detail: The changed object, and the extent of the change.
    ///   - tenant: The tenant whose key made it; nil for an operator.
    package func add(
        _ action: String, _ detail: String, by actor: Actor, of tenant: String?
    ) async throws {
        let person: [RedisArgument] = actor.person.map { ["person", RedisArgument($0)] } ?? []
        _ = try await redis.run(
            Self.script, keys: [keys.audit(of: tenant)],
            arguments: [
                RedisArgument(tenant == nil ? Self.keptMax : Self.ofTenantMax),
                "key", RedisArgument(actor.key), "label", RedisArgument(actor.label),
                "deed", RedisArgument(action), "detail",
                RedisArgument(String(detail.prefix(Self.detailLengthMax))),
            ] + person)
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
}
