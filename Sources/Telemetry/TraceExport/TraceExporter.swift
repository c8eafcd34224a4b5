import Edits
public import Logging
public import ServiceLifecycle
import Synchronization
import SystemPackage
import Tracing

/// Records the spans of a process and sends them to a collector, a file, or both, beside its work.
///
/// Spans never hold up what they are about: what cannot be sent in time is dropped and counted. When the service ends
/// it sends what there is, within ``flushTimeout``.
public final class TraceExporter: Service {
    /// The longest time that a span waits before it is sent.
    static let interval: Duration = .seconds(1)
    /// How long the last spans may take when the process ends.
    static let flushTimeout: Duration = .seconds(5)

    /// The shortest time between two lines of the log about spans that are dropped; a metric counts them all.
    static let logInterval: Duration = .seconds(60)

    private let encoding: OTLP
    private let collector: TraceCollector?
    private let file: TraceFile?
    private let outbox = SpanOutbox()
    private let logger: Logger
    private let share: Double
    private let loggedAt = Mutex<ContinuousClock.Instant?>(nil)

    /// An exporter, to be made the process' tracer with ``tracer`` and run.
    ///
    /// - Parameter encoding: says whose spans they are.
    public init(_ settings: TraceSettings, _ encoding: OTLP, logger: Logger) {
        self.encoding = encoding
        self.logger = logger
        share = settings.share
        collector = settings.endpoint.map { TraceCollector($0) }
        file = settings.file.map { TraceFile($0) }
    }

    /// Makes an exporter and has it take the spans of this process.
    ///
    /// - Parameters:
    ///   - service: the kind of process.
    ///   - name: the process' own name.
    /// - Returns: nil when the settings name no place for spans: then none are recorded. Else it is to be run.
    public static func start(
        _ settings: TraceSettings, of service: String, version: String, named name: String,
        _ logger: Logger
    ) -> TraceExporter? {
        guard settings.isOn else { return nil }
        let exporter = TraceExporter(
            settings, OTLP(service: service, version: version, instance: name), logger: logger)
        InstrumentationSystem.bootstrap(exporter.tracer)
        logger.notice(
            "traces are recorded",
            metadata: [
                "to":
                    "\([settings.endpoint, settings.file?.string].compactMap(\.self).joined(separator: " "))",
                "share": "\(settings.share)",
            ])
        return exporter
    }

    /// The tracer whose spans are sent.
    public var tracer: SpanRecorder {
        SpanRecorder(share: share) { [outbox] in outbox.add($0) }
    }

    /// Returns the counts of sent and of dropped spans.
    public func families() -> [MetricFamily] { outbox.families() }

    /// Sends spans until its group is shut down, and then the rest.
    public func run() async {
        await withTaskGroup { group in
            group.addTask { [self] in
                for await _ in outbox.wakes { await sendAll() }
                await sendAll(isLast: true)
            }
            group.addTask { [outbox] in
                while !Task.isCancelled, !Task.isShuttingDownGracefully {
                    // The wait ends early when the process shuts down.
                    try? await cancelWhenGracefulShutdown {
                        try await Task.sleep(for: TraceExporter.interval)
                    }
                    outbox.wakeSender()
                }
                outbox.close()
                // Cancelled when the last span is sent.
                try? await Task.sleep(for: TraceExporter.flushTimeout)
            }
            // Whichever ends first: all is sent, or the time for it is over.
            await group.next()
            group.cancelAll()
        }
        let lost = loseAll()
        if lost > 0 {
            logger.notice(
                "spans were not sent before the end", metadata: ["spans": "\(lost)"])
        }
        await collector?.close()
    }

    private func loseAll() -> Int {
        var lost = 0
        while case let batch = outbox.removeBatch(), !batch.isEmpty { lost += batch.count }
        outbox.lose(lost, .shutdown)
        return lost
    }

    /// - Parameter isLast: the process ends: each request is sent once, and not again.
    private func sendAll(isLast: Bool = false) async {
        while !Task.isCancelled, case let batch = outbox.removeBatch(), !batch.isEmpty {
            let request = encoding.request(batch)
            await write(request, batch.count)
            await send(request, batch.count, isLast)
        }
    }

    private func write(_ request: String, _ count: Int) async {
        guard let file else { return }
        do throws(Failure) {
            try await file.append(request)
            outbox.countSent(count, "file")
        } catch {
            outbox.lose(count, .file)
            logLoss(error.message)
        }
    }

    private func send(_ request: String, _ count: Int, _ isLast: Bool) async {
        guard let collector else { return }
        for number in 1... {
            let answer = await collector.send(request)
            let step = ExportPolicy.step(
                after: answer.answer, try: number, random: .random(in: 0...1))
            switch step {
            case .done:
                let refused = min(answer.refused, count)
                outbox.countSent(count - refused, "collector")
                return outbox.lose(refused, .refused)
            case .again(let delay) where !isLast && !Task.isShuttingDownGracefully:
                // The wait ends early when the process shuts down; one more attempt follows.
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: delay) }
                if Task.isCancelled { return outbox.lose(count, .shutdown) }
            case .again, .drop:
                let isRefused = step == .drop && answer.answer != .none && number == 1
                outbox.lose(count, isRefused ? .refused : .unreachable)
                return logLoss("the collector did not accept them: \(answer.reason)")
            }
        }
    }

    /// Logs the reason of a loss, at most once per ``logInterval``.
    private func logLoss(_ sentence: String) {
        let isDue = loggedAt.withLock { loggedAt in
            if let loggedAt, .now - loggedAt < Self.logInterval { return false }
            loggedAt = .now
            return true
        }
        if isDue { logger.warning("spans are dropped: \(sentence)") }
    }
}
