public import JobQueue
public import Telemetry

/// The gauges of a queue, from the counts in Redis, for a scrape.
///
/// Every worker and every gateway of a queue reports the same numbers, so use their `max` and not their sum. A gateway reports them
/// because a queue without workers has nobody else.
public actor QueueGauges {
    /// The lifetime of a reading: consecutive scrapes, or those of several scrapers, share one call.
    public static let freshFor: Duration = .seconds(5)
    /// The maximum wait for Redis in a scrape; Prometheus gives up after 10 s by default.
    public static let readTimeMax: Duration = .seconds(2)

    private let queue: JobQueue
    private let freshFor: Duration
    private let readTimeMax: Duration
    private let isWorker: Bool
    private var newest: (at: ContinuousClock.Instant, reading: Task<[MetricFamily], Never>)?

    /// Creates the gauges of a queue.
    ///
    /// - Parameters:
    ///   - queue: A queue with a client of its own: a reply that is late closes the connection.
    ///   - isWorker: Whether a worker reports them.
    public init(
        queue: JobQueue, freshFor: Duration = freshFor, readTimeMax: Duration = readTimeMax,
        isWorker: Bool = true
    ) {
        self.isWorker = isWorker
        self.queue = queue
        self.freshFor = freshFor
        self.readTimeMax = readTimeMax
    }

    /// Returns the gauges, at most ``freshFor`` old; while Redis is unavailable only `minilab_redis_up 0`.
    public func families() async -> [MetricFamily] {
        await familiesWithContact().filter { $0.name != Self.upName || isWorker }
    }

    /// The name of the gauge of a worker's contact to Redis. Alerts take it for a worker, so nobody else has it.
    private static let upName = "minilab_redis_up"

    private func familiesWithContact() async -> [MetricFamily] {
        if let newest, .now - newest.at < freshFor { return await newest.reading.value }
        let reading = Task { [queue, readTimeMax] in await Self.read(queue, within: readTimeMax) }
        newest = (.now, reading)
        return await reading.value
    }

    private static func read(_ queue: JobQueue, within limit: Duration) async -> [MetricFamily] {
        let reading = Task {
            let status = try await queue.status()
            return (
                status, try await queue.scaleAdvice(ScaleTarget(), from: status),
                try await queue.readMemory()
            )
        }
        let clock = Task {
            try await Task.sleep(for: limit)
            reading.cancel()
        }
        defer { clock.cancel() }
        do {
            let (status, advice, used) = try await reading.value
            return families(status, of: queue.name.string)
                + families(advice, of: queue.name.string)
                + memory(used, most: queue.memory.max)
        } catch {
            // Old numbers would look like current ones.
            return [up(0)]
        }
    }

    static func families(_ status: QueueStatus, of queue: String) -> [MetricFamily] {
        func sample(_ label: String, _ value: String, _ count: Int) -> MetricFamily.Sample {
            MetricFamily.Sample(
                labels: [MetricFamily.Label("queue", queue), MetricFamily.Label(label, value)],
                value: Double(count))
        }
        return [
            up(1),
            MetricFamily(
                name: "minilab_queue_jobs",
                help: "Jobs of the queue by state. Every worker reports the same value.",
                kind: .gauge,
                samples: JobState.counted.map { sample("state", $0.countName, status[$0]) }),
            MetricFamily(
                name: "minilab_queue_events_total",
                help:
                    "Events of jobs since the queue was created. Every worker reports the same value.",
                kind: .counter,
                samples: status.counters.filter { $0.key != "milliseconds" }
                    .sorted { $0.key < $1.key }.prefix(Metrics.seriesMax)
                    .map { sample("event", $0.key, $0.value) }),
            .gauge(
                "minilab_queue_paused", "1 when all claims are paused.",
                labels: [MetricFamily.Label("queue", queue)], status.paused == nil ? 0 : 1),
            .gauge(
                "minilab_queue_workers", "Workers of the queue with a recent heartbeat.",
                labels: [MetricFamily.Label("queue", queue)], Double(status.workers.count)),
            .gauge(
                "minilab_queue_held_entries",
                "Entries of the ingress that are not admitted, because enough jobs wait already.",
                labels: [MetricFamily.Label("queue", queue)],
                Double(status.ingressHold?.entries ?? 0)),
            MetricFamily(
                name: "minilab_queue_overdue_jobs",
                help:
                    "Jobs that wait for any living worker: delayed ones whose time has come, and those whose worker's lease ran out.",
                kind: .gauge,
                samples: [
                    sample("kind", "delayed", status.overdue.delayed),
                    sample("kind", "lease", status.overdue.leases),
                ]),
        ]
    }

    /// Returns the gauges of waiting work, for autoscalers.
    static func families(_ advice: ScaleAdvice, of queue: String) -> [MetricFamily] {
        let labels = [MetricFamily.Label("queue", queue)]
        return [
            .gauge(
                "minilab_queue_work_seconds",
                "Seconds of one slot that the open jobs take, as far as limits let them be done in ten minutes.",
                labels: labels, advice.workSeconds),
            .gauge(
                "minilab_queue_worker_slots",
                "Slots of one worker that have memory for a job, on average.", labels: labels,
                advice.slotsPerWorker),
        ]
    }

    private static func memory(_ used: Int, most: Int?) -> [MetricFamily] {
        [
            .gauge(
                "minilab_redis_memory_bytes",
                "Memory that Redis uses. Every worker reports the same value.",
                Double(used)),
            .gauge(
                "minilab_redis_memory_max_bytes",
                "Memory that Redis may use (maxmemory); 0 for no limit.",
                Double(most ?? 0)),
        ]
    }

    private static func up(_ value: Double) -> MetricFamily {
        .gauge(
            upName, "1 when Redis answered this worker for this scrape.", value)
    }
}

extension StatusPage {
    /// The pages of a worker.
    ///
    /// - Parameter traces: metrics of the spans that it sends.
    public static func pages(
        metrics: WorkerMetrics, queue: QueueGauges,
        traces: @escaping @Sendable () -> [MetricFamily] = { [] }
    ) -> [StatusPage] {
        [
            StatusPage("/metrics") {
                let families = metrics.families() + (await queue.families()) + traces()
                return StatusAnswer(Exposition.mediaType, Exposition.text(families))
            },
            StatusPage("/healthz") { StatusAnswer(metrics.health.alive()) },
            StatusPage("/readyz") { StatusAnswer(metrics.health.ready()) },
        ]
    }
}
