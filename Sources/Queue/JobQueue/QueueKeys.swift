/// The keys of a queue that workers and commands use. The files of `Scripts/Shared` explain those that only scripts
/// use, each those of its subject. What only gateways and operators may touch is in ``GatewayKeys``.
public struct QueueKeys: Sendable {
    /// The prefix of all keys. The braces put them into one slot of a Redis Cluster.
    let prefix: String

    init(_ name: QueueName) { prefix = "minilab:{\(name)}:" }

    /// The stream to which producers add jobs.
    public var ingress: String { prefix + "in" }
    /// The stream to which producers add jobs that a person waits for; it is admitted first.
    public var urgentIngress: String { prefix + "in:interactive" }
    /// The stream that readers of events read.
    public var events: String { prefix + "events" }
    /// Stream: the events of a tenant that newer events have pushed out of ``events``.
    package func keptEvents(of tenant: String) -> String { prefix + "events:of:" + tenant }
    /// Hash: what is lost of the events: see `Scripts/Shared/events.lua`.
    var eventsCut: String { prefix + "events:cut" }
    /// The stream to which the members of a batch are added.
    public func batchStream(_ batch: String) -> String { prefix + "lane:" + batch }

    /// Stream: the control messages to workers.
    package var control: String { prefix + "control" }
    /// Stream: wakes the worker that admits jobs.
    var bell: String { prefix + "bell" }
    /// List: each token wakes one worker.
    var wake: String { prefix + "wake" }
    /// List: each token wakes one worker whose last claim left no job to others.
    var wakeOthers: String { prefix + "wake:others" }
    /// Hash: the end of the lease of each duty, and the worker that has it.
    var duties: String { prefix + "duties" }
    /// Zset: the times of the workers' last heartbeats.
    var workers: String { prefix + "workers" }
    /// Hash: the information that workers send about themselves.
    var workerInfos: String { prefix + "workers:info" }
    /// Hash: the names that two living workers have, with the processes that were replaced last and the time of that in ms; 0 of a restart.
    var sharedNames: String { prefix + "workers:shared" }
    /// Hash: the library that the jobs are about.
    var library: String { prefix + "library" }
    /// Hash: the rules of the whole queue.
    var config: String { prefix + "config" }
    /// Hash: the number of jobs that workers hold, by tenant.
    var running: String { prefix + "running" }
    /// Hash: counts and positions that scripts keep.
    var virtual: String { prefix + "virtual" }
    /// Hash: the counts of events.
    var counters: String { prefix + "counters" }
    /// Zset: the tenants that have ready jobs of a priority.
    func flows(_ priority: String) -> String { prefix + "flows:" + priority }
    /// Zset: the ready jobs of a tenant.
    func ready(_ priority: String, _ tenant: String) -> String {
        prefix + "ready:" + priority + ":" + tenant
    }
    /// Zset: the jobs that workers hold.
    var lease: String { prefix + "lease" }
    /// Zset: the jobs whose version could not be published.
    var stuck: String { prefix + "stuck" }
    /// List: the jobs that succeeded or were cancelled.
    var done: String { prefix + "done" }
    /// Zset: the jobs that are dead.
    var dead: String { prefix + "dead" }
    /// Zset: the dead jobs that have a large edit.
    var largeDead: String { prefix + "dead:large" }
    /// Hash: the number of dead jobs by cause.
    var deadGroups: String { prefix + "dead:groups" }
    /// Hash: the number of dead jobs that were moved to each file.
    var spilled: String { prefix + "spilled" }
    /// Hash: the ids of submitted jobs that are not admitted yet.
    var reserved: String { prefix + "reserved" }
    /// Hash: the ids of a tenant's submitted jobs that have not ended.
    func backlog(_ tenant: String) -> String { prefix + "backlog:" + tenant }
    /// Hash: the bytes that each tenant takes.
    var stored: String { prefix + "stored" }
    /// Hash: the record of a job.
    func job(_ id: String) -> String { prefix + "job:" + id }
    /// String: a job's own edit.
    func edit(_ id: String) -> String { prefix + "edit:" + id }
    /// String: the event of a job that is being published or has ended.
    func result(_ id: String) -> String { prefix + "result:" + id }
    /// List: the failures of a job's attempts.
    func attempts(_ id: String) -> String { prefix + "attempts:" + id }
    /// Zset: the known batches.
    var batches: String { prefix + "batches" }
    /// Hash: the record of a batch.
    func batch(_ name: String) -> String { prefix + "batch:" + name }
    /// String: the edit that the members of a batch share.
    func batchEdit(_ name: String) -> String { prefix + "batch:" + name + ":edit" }
}
