/// The times and sizes of a queue. All workers of a queue should use the same.
public struct QueueSettings: Sendable {
    /// How long a worker holds a job without a heartbeat: what a SIGKILL costs.
    public var lease: Duration = .seconds(30)
    /// When a failed attempt is repeated and when no more.
    public var retry = RetryPolicy()
    /// How often workers may die over one job before it is dead.
    public var crashesMax = 3
    /// How often a job is rendered anew because its asset changed meanwhile.
    public var rebasesMax = 10
    /// How long the record of a done job stays, and with it the memory of its id.
    public var keepDone: Duration = .seconds(24 * 3600)
    /// How many records of done jobs stay at most; the oldest go first.
    public var doneRecordsMax = 100_000
    /// About how many events stay in the stream (Redis trims whole nodes).
    public var eventsMax = 100_000
    /// Ingress entries that one admit takes.
    public var admitMax = 200
    /// Delayed jobs that one claim makes ready.
    public var promotionsMax = 50
    /// Ready jobs that one claim looks at beyond those it gives out.
    public var looksExtra = 64
    /// Lost leases that one reap handles.
    public var reapMax = 100
    /// Old records that one reap drops.
    public var dropMax = 1000

    /// Default settings.
    public init() {}
}
