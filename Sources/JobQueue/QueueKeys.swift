/// The keys of a queue that workers and commands name. Those that scripts alone name are in `Scripts/Shared/base.lua`.
public struct QueueKeys: Sendable {
    /// The prefix of each of them. The braces make it one slot of a Redis cluster.
    let prefix: String

    init(_ name: QueueName) { prefix = "minilab:{\(name)}:" }

    /// The stream that producers add to.
    public var ingress: String { prefix + "in" }
    /// The stream that producers add to what somebody waits for: it is admitted first.
    public var urgentIngress: String { prefix + "in:interactive" }
    /// The stream that readers of events read.
    public var events: String { prefix + "events" }
    /// The stream that the members of a batch are added to.
    public func lane(_ batch: String) -> String { prefix + "lane:" + batch }

    /// Stream: what workers and gateways are told.
    package var control: String { prefix + "control" }
    /// Hash: the keys of the gateway's clients.
    package var accessKeys: String { prefix + "keys" }
    /// Hash: how much was uploaded with each of them today.
    package var uploads: String { prefix + "keys:uploads" }
    /// Hash: replays that gateways carry out.
    package var replays: String { prefix + "replays" }
    /// String: the key that a session of the pages acts with, and the person, by the digest of its token.
    package func session(_ digest: String) -> String { prefix + "session:" + digest }
    /// String: a sign-in with an identity provider that was begun, by the digest of its state.
    package func signIn(_ digest: String) -> String { prefix + "signin:" + digest }
    /// Zset: their digests, by their end.
    package var signIns: String { prefix + "signins" }
    /// Stream: who changed what through a gateway.
    package var audit: String { prefix + "audit" }
    /// Hash: the endpoints of webhooks.
    package var webhooks: String { prefix + "webhooks" }
    /// Hash, zset and list: how far an endpoint is, what it is sent again, and its last deliveries.
    package func webhook(_ id: String, _ part: String) -> String {
        prefix + "webhook:" + id + ":" + part
    }
    /// Stream: calls whoever admits.
    var bell: String { prefix + "bell" }
    /// List: a token wakes a worker.
    var wake: String { prefix + "wake" }
    /// String: who has a duty.
    func duty(_ duty: Duty) -> String { prefix + "duty:" + duty.rawValue }
    /// Zset: when workers were heard of.
    var workers: String { prefix + "workers" }
    /// Hash: what workers say of themselves.
    var workerInfos: String { prefix + "workers:info" }
    /// Hash: rules of the whole queue.
    var config: String { prefix + "config" }
    /// Hash: how many jobs of a tenant workers hold.
    var running: String { prefix + "running" }
    /// Hash: counts and turns that scripts keep.
    var virtual: String { prefix + "virtual" }
    /// Hash: how often something happened.
    var counters: String { prefix + "counters" }
    /// Zset: tenants that have ready jobs of a priority.
    func flows(_ priority: String) -> String { prefix + "flows:" + priority }
    /// Zset: the ready jobs of a tenant.
    func ready(_ priority: String, _ tenant: String) -> String {
        prefix + "ready:" + priority + ":" + tenant
    }
    /// Zset: jobs that workers hold.
    var lease: String { prefix + "lease" }
    /// Zset: jobs whose version could not be published.
    var stuck: String { prefix + "stuck" }
    /// List: jobs that ended well.
    var done: String { prefix + "done" }
    /// Zset: jobs that are dead.
    var dead: String { prefix + "dead" }
    /// Zset: those of them that have a large edit.
    var largeDead: String { prefix + "dead:large" }
    /// Hash: how many of them died of what.
    var deadGroups: String { prefix + "dead:groups" }
    /// Hash: how many dead jobs were moved to which file.
    var spilled: String { prefix + "spilled" }
    /// Hash: the ids of jobs that were submitted and are not taken in yet.
    var reserved: String { prefix + "reserved" }
    /// Hash: the ids of a tenant's jobs that were submitted and have not ended.
    func backlog(_ tenant: String) -> String { prefix + "backlog:" + tenant }
    /// Hash: the record of a job.
    func job(_ id: String) -> String { prefix + "job:" + id }
    /// String: the edit of a job of its own.
    func edit(_ id: String) -> String { prefix + "edit:" + id }
    /// String: the event of a job that is published or ended.
    func result(_ id: String) -> String { prefix + "result:" + id }
    /// List: why attempts of a job ended.
    func attempts(_ id: String) -> String { prefix + "attempts:" + id }
    /// Zset: batches that are known.
    var batches: String { prefix + "batches" }
    /// Hash: the record of a batch.
    func batch(_ name: String) -> String { prefix + "batch:" + name }
    /// String: the edit that the members of a batch share.
    func batchEdit(_ name: String) -> String { prefix + "batch:" + name + ":edit" }
}
