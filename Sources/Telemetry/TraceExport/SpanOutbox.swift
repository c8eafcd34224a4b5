import Synchronization

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

    /// Adds a span that has ended.
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

    /// Counts spans that are gone.
    func lose(_ count: Int, _ loss: Loss) { dropped.add(Double(count), loss.rawValue) }

    /// The counts as they are now.
    func families() -> [MetricFamily] { metrics.families() }
}
