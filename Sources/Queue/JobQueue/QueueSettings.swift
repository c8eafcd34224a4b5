/// The times and sizes of a queue. All workers of a queue should use the same values.
public struct QueueSettings: Sendable {
    /// The time for which a worker holds a job without a heartbeat: the delay that a SIGKILL causes.
    public var lease: Duration = .seconds(30)
    public var retry = RetryPolicy()
    /// The number of worker deaths during one job after which the job is dead.
    public var crashesMax = 3
    /// The number of worker deaths after which only a worker that holds no other job may claim the job.
    public var crashesToQuarantine = 2
    /// The maximum number of void claims of one job: claims that no heartbeat confirmed, or whose worker died before it started the
    /// job. Further ones count as crashes.
    public var voidsMax = 10
    /// The number of leases for which a worker must be silent before a job that it lost is dead. A death cannot be undone.
    public var silentLeasesToDeath = 4
    /// The number of times that a failed publication is continued before the job is stuck.
    public var carriesMax = 5
    /// The number of times that a job is rendered again because its asset changed meanwhile.
    public var rebasesMax = 10
    /// The time for which the record of a done job is kept, and with it the memory of its id.
    public var keepDone: Duration = .seconds(24 * 3600)
    /// The maximum number of records of done jobs; the oldest are dropped first.
    public var doneRecordsMax = 100_000
    /// The approximate number of events in the stream (Redis trims whole nodes).
    public var eventsMax = 100_000
    /// The number of ingress entries that one `admit` takes, and of entries of batches that one `feed` takes.
    public var admitMax = 200
    /// The approximate size of the ingress entries that one `admit` reads, in bytes: Lua holds them all at once.
    public var admitBytesMax = 64 << 20
    /// The number of waiting or running single jobs up to which entries of the ingress stream are admitted. Further entries stay in
    /// the stream, where they need a tenth of the memory. The limit for urgent entries is twice as high. Members of batches do
    /// not count.
    public var aheadMax = 100_000
    /// The number of jobs that may wait while Redis is full; further entries stay in their streams. Their records take some 2 MB.
    public var waitingMaxWhileFull = 1000
    /// The same limit in bytes of edits larger than 4 KiB.
    public var aheadBytesMax = 256 << 20
    /// The maximum number of submitted jobs of all tenants that wait for admission; beyond it, `submit` fails.
    public var reservedMax = 1_000_000
    /// The maximum number of bytes of all tenants beyond which `submit` and `append` refuse more; nil for the share of
    /// Redis' memory, ``ServerMemory/producersMax``.
    public var storedBytesMax: Int?
    /// The maximum number of jobs of one batch that have left its stream and have not ended.
    public var window = 1000
    /// The number of batches from which one `feed` takes entries; batches take turns.
    public var batchStreamsMax = 8
    /// The number of batch streams that one `feed` checks for entries.
    public var checksMax = 1000
    /// The pause per idle batch stream before all are checked again. A check costs Redis about 0.7 µs, so checks take at most a
    /// fifteenth of its time, and each of 10,000 idle streams is checked every 100 ms.
    public var checkPace: Duration = .microseconds(10)
    /// The number of `feed` calls of one admission while they find no entry and have not checked all batch streams.
    public var feedsMax = 32
    /// The time without a new entry after which an unsealed batch is sealed at its present size.
    public var batchIdleMax: Duration = .seconds(24 * 3600)
    /// The time without a change after which a batch stream that belongs to no batch is removed.
    public var unopenedStreamMax: Duration = .seconds(24 * 3600)
    /// The time without a change after which the doctor reports such a stream. Producers may fill it before they open the batch.
    public var unopenedStreamGrace: Duration = .seconds(60)
    /// The interval at which idle batches and batch streams without a batch are inspected, by all workers together.
    public var tendPace: Duration = .seconds(1)
    /// The number of batch streams inspected each time.
    public var tendMax = 10
    /// The number of the server's keys that Redis scans each time.
    public var scanStep = 500
    /// The maximum number of completed batches whose records are kept, at most as long as done jobs.
    public var batchesMax = 1000
    /// The maximum number of records of entries that never became jobs.
    public var malformedMax = 10_000
    /// The maximum number of dead jobs in Redis; workers move the oldest to a file.
    public var deadMax = 50_000
    /// The maximum number of dead jobs with a large edit, which may be 64 KiB each.
    public var deadLargeMax = 1000
    /// The time for which a dead job stays in Redis.
    public var keepDead: Duration = .seconds(30 * 86400)
    /// The maximum number of names of done jobs that are remembered beyond their records; at least half of it is remembered.
    public var seenMax = 1_000_000
    /// The assumed cost of a job until the queue has measured it, in milliseconds of one slot.
    public var usualCost = 250
    /// The number of delayed jobs that one call of `promote` inspects.
    public var promotionsMax = 50
    /// The number of calls of `promote` for one admission.
    public var promotesMax = 20
    /// The number of cancelled or expired jobs that one claim ends.
    public var passedMax = 200
    /// The number of flows at their caps that one claim inspects; the next claim continues from there.
    public var cappedMax = 200
    /// The number of lost leases that one reap handles.
    public var reapMax = 100
    /// The number of old records that one reap drops.
    public var removalsMax = 200

    public init() {}
}
