import AsyncHTTPClient
import Edits
import Files
import Glibc
public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
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

/// A file that gets a request of spans on each line, as OpenTelemetry's file exporter writes it.
///
/// Several processes may write to one: each line is one `write` to the end. A file that has reached its length is moved
/// aside, in the place of the one before, so both together are bounded.
/// Source: <https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/>.
final class TraceFile: Sendable {
    /// The length after which a file is moved aside, in bytes.
    static let bytesMax = 64 << 20

    private let path: FilePath
    private let bytesMax: Int

    /// - Parameter bytesMax: the length after which it is moved aside.
    init(_ path: FilePath, bytesMax: Int = bytesMax) {
        self.path = path
        self.bytesMax = bytesMax
    }

    /// The name that a full file gets.
    private var aside: FilePath { FilePath(path.string + ".1") }

    /// Adds a line; the newline is added.
    ///
    /// The file is opened for each: it may have been moved aside by another process, or by logrotate.
    func append(_ line: String) async throws(Failure) {
        try await offPool { [self] () throws(Failure) in
            let file = open(
                path.string, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o640)
            guard file >= 0 else { throw failure("opened") }
            defer { _ = Glibc.close(file) }
            let bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
            guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
                throw failure("written")
            }
            var facts = stat()
            guard fstat(file, &facts) == 0, facts.st_size >= bytesMax else { return }
            guard rename(path.string, aside.string) == 0 else { throw failure("moved aside") }
        }
    }

    private func failure(_ action: String) -> Failure {
        Failure(
            .storeUnavailable,
            "the file of traces \(path) cannot be \(action): \(String(cString: strerror(errno))). Give traces.file "
                + "a place that this user may write to, with room for \(2 * bytesMax >> 20) MB.")
    }
}

/// A client of a collector that accepts spans over HTTP: one request, one answer.
final class TraceCollector: Sendable {
    /// The longest time of a request, its answer included.
    static let timeout: Duration = .seconds(10)
    static let connectTimeout = TimeAmount.seconds(3)
    static let answerBytesMax = 64 << 10

    private let url: String
    private let timeout: Duration
    private let client: HTTPClient

    /// - Parameter timeout: the longest time of a request, its answer included.
    init(_ url: String, timeout: Duration = timeout) {
        self.url = url
        self.timeout = timeout
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: Self.connectTimeout))
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // Sending spans makes none.
        configuration.tracing.tracer = nil
        client = HTTPClient(
            eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    /// An answer, with how many spans of those that were taken it refuses.
    struct Answer {
        var answer: ExportPolicy.Answer
        var refused = 0
        /// Why there is no status, for people.
        var reason = ""
    }

    /// Sends a request of spans once.
    func send(_ body: String) async -> Answer {
        await withTaskGroup(of: Answer.self) { group in
            group.addTask { await self.exchange(body) }
            // The client's own deadline ends with the head of an answer, and a body may come a byte at a time.
            group.addTask { [timeout] in
                // Cancelled when the exchange ends first: its result is then the answer.
                try? await Task.sleep(for: timeout)
                return Answer(answer: .none, reason: "it gave no whole answer within \(timeout)")
            }
            let first = await group.next() ?? Answer(answer: .none, reason: "it was cancelled")
            group.cancelAll()
            return first
        }
    }

    private func exchange(_ body: String) async -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = ["content-type": "application/json", "user-agent": "minilab-traces"]
        request.body = .bytes(ByteBuffer(string: body))
        do {
            let response = try await client.execute(request, deadline: .distantFuture)
            var text = ByteBuffer()
            for try await part in response.body {
                text.writeImmutableBuffer(part)
                // The rest is not read: the client ends the connection.
                if text.readableBytes > Self.answerBytesMax { break }
            }
            let status = Int(response.status.code)
            return Answer(
                answer: .status(
                    status,
                    retryAfter: response.headers.first(name: "retry-after").flatMap {
                        UInt32($0).map(Int.init)
                    }),
                refused: OTLP.rejected(String(buffer: text)), reason: "it answered \(status)")
        } catch {
            return Answer(answer: .none, reason: "it gave no answer: \(error)")
        }
    }

    /// Closes the client's connections.
    func close() async {
        // Shutdown fails only if the client is already closed.
        try? await client.shutdown()
    }
}

/// Spans between those who end them and the task that sends them; counts what is sent and what is not.
///
/// Nobody waits for it: a span that has no room is counted and gone.
final class SpanOutbox: Sendable {
    /// Why a span was not sent.
    enum Loss: String, CaseIterable {
        /// More ended than could be sent.
        case full
        /// The collector would not have it.
        case refused
        /// The collector did not answer, or not in time, however often it was asked.
        case unreachable
        /// The file could not be written.
        case file
        /// The process ended before it was sent.
        case shutdown
    }

    /// One element when there is enough for a request; the rest waits for the clock.
    let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let buffer = Mutex(SpanBuffer())
    private let metrics = Metrics()
    private let sent: Counter
    private let dropped: Counter

    init() {
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        sent = metrics.counter(
            "minilab_trace_spans_sent_total", "Spans that a collector or a file has taken.",
            labels: ["to"])
        dropped = metrics.counter(
            "minilab_trace_spans_dropped_total",
            "Spans that were not sent: the queue of them was full, or they were refused, or nobody took them.",
            labels: ["reason"])
        for loss in Loss.allCases { dropped.add(0, loss.rawValue) }
    }

    func add(_ span: FinishedSpan) {
        let (isKept, hasBatch) = buffer.withLock { ($0.add(span), $0.hasBatch) }
        if !isKept { lose(1, .full) }
        if hasBatch { wake.yield() }
    }

    /// Removes the spans of the next request and returns them; empty when none waits.
    func removeBatch() -> [FinishedSpan] { buffer.withLock { $0.removeBatch() } }

    /// Wakes the sender, so that it sends the waiting spans.
    func wakeSender() { wake.yield() }

    /// No more is sent after what there is now.
    func close() { wake.finish() }

    /// Counts spans that were accepted.
    func countSent(_ count: Int, _ destination: String) { sent.add(Double(count), destination) }

    func lose(_ count: Int, _ loss: Loss) { dropped.add(Double(count), loss.rawValue) }

    /// The counts as they are now.
    func families() -> [MetricFamily] { metrics.families() }
}
