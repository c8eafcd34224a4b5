/// The times and sizes of a queue. All workers of a queue should use the same.
public struct QueueSettings: Sendable {
    /// How long a worker holds a job without a heartbeat: what a SIGKILL costs.
    public var lease: Duration = .seconds(30)
    /// When a failed attempt is repeated and when no more.
    public var retry = RetryPolicy()
    /// How often workers may die over one job before it is dead.
    public var crashesMax = 3
    /// After how many of them it is claimed only by a worker that holds nothing else.
    public var crashesToQuarantine = 2
    /// How many claims of one job are void because no heartbeat confirmed them, or because their worker died before it
    /// began with them; the next ones count as crashes.
    public var voidsMax = 10
    /// How many leases a worker is silent before a job is buried that it lost: nothing takes a burial back.
    public var silentLeasesToBury = 4
    /// How often a version that could not be published is carried on before its job is stuck.
    public var carriesMax = 5
    /// How often a job is rendered anew because its asset changed meanwhile.
    public var rebasesMax = 10
    /// How long the record of a done job stays, and with it the memory of its id.
    public var keepDone: Duration = .seconds(24 * 3600)
    /// How many records of done jobs stay at most; the oldest go first.
    public var doneRecordsMax = 100_000
    /// About how many events stay in the stream (Redis trims whole nodes).
    public var eventsMax = 100_000
    /// Ingress entries that one admit takes, and entries of lanes that one feed takes.
    public var admitMax = 200
    /// About how many bytes of ingress entries one admit reads: Lua holds them all at once.
    public var admitBytesMax = 64 << 20
    /// Single jobs that wait or run while more are taken in from the ingress stream: the rest stays there, where it needs
    /// a tenth of the memory. Urgent ones are taken in up to twice as many. Members of batches do not count.
    public var aheadMax = 100_000
    /// The same in bytes of edits that are larger than 4 KiB.
    public var aheadBytesMax = 256 << 20
    /// Jobs that were submitted and are not taken in yet, of all tenants: beyond, `submit` fails.
    public var reservedMax = 1_000_000
    /// Jobs of one batch that are out of its lane and have not ended.
    public var window = 1000
    /// Lanes that one feed takes entries from; they take turns.
    public var lanesMax = 8
    /// Lanes of which one feed asks whether they have entries.
    public var looksMax = 1000
    /// How long Redis is left alone for each idle lane before all of them are looked at again. A look costs it about
    /// 0.7 µs, so looks take a fifteenth of its time at most, and of 10,000 idle lanes each is looked at every 100 ms.
    public var lookPace: Duration = .microseconds(10)
    /// How often one admit calls feed while that finds nothing and has not looked at all lanes.
    public var feedsMax = 32
    /// After which time without a new entry a batch that nobody sealed is sealed at what it has.
    public var batchIdleMax: Duration = .seconds(24 * 3600)
    /// After which time untouched a lane is removed that no batch has.
    public var unopenedLaneMax: Duration = .seconds(24 * 3600)
    /// After which time untouched the doctor tells of such a lane: producers may fill it before they open the batch.
    public var unopenedLaneGrace: Duration = .seconds(60)
    /// How often idle batches and lanes without a batch are looked for, by all workers together.
    public var tendPace: Duration = .seconds(1)
    /// Lanes that are looked after each time.
    public var tendMax = 10
    /// Keys of the server that Redis looks at each time.
    public var scanStep = 500
    /// How many batches that ended stay, at most as long as done jobs.
    public var batchesMax = 1000
    /// How many records stay of entries that never were jobs.
    public var malformedMax = 10_000
    /// How many dead jobs stay in Redis; workers move the oldest to a file.
    public var deadMax = 50_000
    /// How many of them may have a large edit, which may be 64 KiB each.
    public var deadLargeMax = 1000
    /// How long a dead job stays in Redis.
    public var keepDead: Duration = .seconds(30 * 86400)
    /// How many names of done jobs are remembered beyond their records, at least half of it.
    public var seenMax = 1_000_000
    /// What a job costs until the queue has learned it, in milliseconds of one slot.
    public var usualCost = 250
    /// Delayed jobs that one call of `promote` looks at.
    public var promotionsMax = 50
    /// Calls of `promote` for one admission.
    public var promotesMax = 20
    /// Jobs that one claim ends because they were cancelled or too late.
    public var passedMax = 200
    /// Flows at their caps that one claim looks at; the next claim goes on.
    public var cappedMax = 200
    /// Lost leases that one reap handles.
    public var reapMax = 100
    /// Old records that one reap drops.
    public var dropMax = 200

    /// Default settings.
    public init() {}
}
