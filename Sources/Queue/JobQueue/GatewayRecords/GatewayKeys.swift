/// The keys of what the gateway owns: who its clients are, what they were told, and what they did.
///
/// They begin with `minilab-gateway:{queue}:`, because a user of Redis that works on photos must reach none of them: the pattern of
/// its keys, `minilab:{queue}:*`, does not match them, and Redis has no pattern that takes some keys out. The braces put them into the
/// slot of the queue's keys.
package struct GatewayKeys: Sendable, Equatable {
    let prefix: String

    init(_ name: QueueName) { prefix = "minilab-gateway:{\(name)}:" }

    private init(prefix: String) { self.prefix = prefix }

    /// The places up to release 0.5: among the queue's keys.
    static func earlier(_ name: QueueName) -> GatewayKeys { GatewayKeys(prefix: name.keys.prefix) }

    /// Stream: the control messages to gateways. A worker that could cut it would delay a revocation.
    package var control: String { prefix + "control" }
    /// Hash: the keys of the gateway's clients.
    package var accessKeys: String { prefix + "keys" }
    /// Hash: the bytes uploaded today with each client key.
    package var uploads: String { prefix + "keys:uploads" }
    /// Hash: the replays that gateways execute.
    package var replays: String { prefix + "replays" }
    /// String: the key and the person of a dashboard session, by the digest of the session's token.
    package func session(_ digest: String) -> String { prefix + "session:" + digest }
    /// String: a sign-in that has returned from an identity provider, by the digest of its state.
    package func signIn(_ digest: String) -> String { prefix + "signin:" + digest }
    /// Zset: the digests of these sign-ins, by their end.
    package var signIns: String { prefix + "signins" }
    /// Stream: the changes that keys of a tenant made through a gateway; nil for those of operators.
    package func audit(of tenant: String?) -> String {
        prefix + "audit" + (tenant.map { ":" + $0 } ?? "")
    }
    /// Hash: the endpoints of webhooks.
    package var webhooks: String { prefix + "webhooks" }
    /// Hash, zset and list: an endpoint's progress, its redeliveries, and its last deliveries.
    package func webhook(_ id: String, _ part: String) -> String {
        prefix + "webhook:" + id + ":" + part
    }

    /// String: whether the records of release 0.5 were moved here; ``GatewayRecords`` writes it.
    var moved: String { prefix + "moved" }
    /// The keys that a queue has at most once. The first one keeps a gateway of release 0.5 from all endpoints.
    var single: [String] { [webhooks, accessKeys, uploads, replays, signIns, audit(of: nil)] }
    /// Whether a key is one of those of which a queue has several.
    func isOneOfSeveral(_ key: String) -> Bool {
        [session(""), signIn(""), audit(of: ""), prefix + "webhook:"]
            .contains { key.hasPrefix($0) }
    }
}
