public import Edits
public import Logging
public import Tracing

extension ServiceContext {
    private enum TraceparentKey: ServiceContextKey {
        typealias Value = Traceparent
        static let nameOverride: String? = "traceparent"
    }

    private enum NewTraceKey: ServiceContextKey {
        typealias Value = TraceID
        static let nameOverride: String? = "new-trace"
    }

    private enum SpanKey: ServiceContextKey {
        typealias Value = any Span
        static let nameOverride: String? = "span"
    }

    /// The span of ours that the present work is in, to add attributes to it; nil outside.
    public internal(set) var span: (any Span)? {
        get { self[SpanKey.self] }
        set { self[SpanKey.self] = newValue }
    }

    /// The span that the present work is a part of: ours, or that of whoever asked for it. Also there when no spans are
    /// recorded, so that logs and what is sent on name the caller's trace.
    public var traceparent: Traceparent? {
        get { self[TraceparentKey.self] }
        set { self[TraceparentKey.self] = newValue }
    }

    /// The name of the trace that the next span without a parent begins; nil: a random one.
    public var newTrace: TraceID? {
        get { self[NewTraceKey.self] }
        set { self[NewTraceKey.self] = newValue }
    }

    /// A context of work that others asked for.
    ///
    /// - Parameters:
    ///   - parent: their span, or nil.
    ///   - trace: the name of the trace that begins here without one.
    public static func following(
        _ parent: Traceparent?, orBeginning trace: TraceID? = nil
    ) -> ServiceContext {
        var context = ServiceContext.topLevel
        context.traceparent = parent
        context.newTrace = trace
        return context
    }
}

extension Logger.MetadataProvider {
    /// Adds `trace_id` and `span_id`, OpenTelemetry's names, to each line of work that is part of a trace.
    ///
    /// Source: <https://opentelemetry.io/docs/specs/otel/compatibility/logging_trace_context/>.
    public static let trace = Logger.MetadataProvider {
        guard let traceparent = ServiceContext.current?.traceparent else { return [:] }
        return ["trace_id": "\(traceparent.trace)", "span_id": "\(traceparent.span)"]
    }
}
