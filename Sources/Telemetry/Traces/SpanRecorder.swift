import Edits
public import Tracing

/// The tracer of a process: gives spans their names, chooses the traces that are recorded, and hands on what has ended.
///
/// A caller that says whether its trace is recorded is obeyed. Of the traces that begin here a share is recorded; it
/// follows from the trace's name, so that all processes choose the same.
public struct SpanRecorder: Tracer {
    private let share: Double
    private let finished: @Sendable (FinishedSpan) -> Void

    /// - Parameters:
    ///   - share: of the traces that begin here, 0 to 1.
    ///   - finished: takes each span that has ended; returns at once.
    public init(share: Double, finished: @escaping @Sendable (FinishedSpan) -> Void) {
        self.share = share
        self.finished = finished
    }

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> RecordedSpan {
        var context = context()
        let parent = context.traceparent
        let trace = parent?.trace ?? context.newTrace ?? .random()
        let isSampled = parent?.isSampled ?? trace.isChosen(among: share)
        // Beneath a trace that is not recorded all keep the caller's traceparent.
        if isSampled || parent == nil {
            context.traceparent = Traceparent(trace: trace, span: .random(), isSampled: isSampled)
        }
        return RecordedSpan(
            operationName, kind, in: context, parent: parent?.span,
            begin: isSampled ? instant().nanosecondsSinceEpoch : 0, finished: finished)
    }

    /// Spans are sent by whoever takes them.
    public func forceFlush() {}

    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let traceparent = context.traceparent else { return }
        injector.inject("\(traceparent)", forKey: "traceparent", into: &carrier)
    }

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: "traceparent", from: carrier) else { return }
        context.traceparent = Traceparent(text) ?? context.traceparent
    }
}

extension TraceID {
    /// Whether a trace is one of the share that is recorded, by its last 56 bits, which W3C wants random.
    ///
    /// Source: <https://www.w3.org/TR/trace-context-2/#random-trace-id-flag>.
    func isChosen(among share: Double) -> Bool {
        Double(low & 0xff_ffff_ffff_ffff) < share * 0x1p56
    }
}
