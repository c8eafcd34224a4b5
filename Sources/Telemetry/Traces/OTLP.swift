public import Edits
public import Logging
public import Tracing

/// Spans as OpenTelemetry's protocol writes them in JSON: `ExportTraceServiceRequest`.
///
/// Names of traces and spans are in hex, whole numbers of 64 bits are text, and kinds are numbers.
/// Source: <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>.
public struct OTLP: Sendable {
    private let resource: JSONValue
    private let scope: JSONValue

    /// - Parameters:
    ///   - service: `service.name`.
    ///   - version: `service.version`.
    ///   - instance: `service.instance.id`: the process' own name.
    public init(service: String, version: String, instance: String) {
        resource = .object([
            "attributes": Self.json([
                .init("service.instance.id", .text(instance)),
                .init("service.name", .text(service)),
                .init("service.version", .text(version)),
            ])
        ])
        scope = .object(["name": "minilab", "version": .string(version)])
    }

    /// The request that brings these spans, on one line.
    public func request(_ spans: [FinishedSpan]) -> String {
        let scoped = JSONValue.object([
            "scope": scope, "spans": .array(spans.map(Self.json)),
        ])
        let ofResource = JSONValue.object(["resource": resource, "scopeSpans": [scoped]])
        return JSONValue.object(["resourceSpans": [ofResource]]).canonical
    }

    /// The number of spans that an answer reports as refused; 0 if it reports none.
    ///
    /// Source: <https://opentelemetry.io/docs/specs/otlp/#partial-success-1>.
    public static func rejected(_ answer: String) -> Int {
        // An answer that is no JSON, or none at all, is a success all the same.
        guard case .object(let fields)? = try? JSONValue(parsing: answer, as: "answer"),
            case .object(let success)? = fields["partialSuccess"],
            let number = success["rejectedSpans"]
        else { return 0 }
        switch number {
        case .string(let text): return max(0, Int(text) ?? 0)
        case .number(let number): return max(0, Int(exactly: number) ?? 0)
        default: return 0
        }
    }

    private static func json(_ span: FinishedSpan) -> JSONValue {
        var fields: [String: JSONValue] = [
            "traceId": .string("\(span.traceparent.trace)"),
            "spanId": .string("\(span.traceparent.span)"),
            "name": .string(span.name), "kind": .number(Double(span.kind.rawValue)),
            "flags": .number(span.traceparent.isSampled ? 1 : 0),
            "startTimeUnixNano": .string("\(span.begin)"),
            "endTimeUnixNano": .string("\(span.end)"),
        ]
        if let parent = span.parent { fields["parentSpanId"] = .string("\(parent)") }
        if !span.attributes.isEmpty { fields["attributes"] = json(span.attributes) }
        if !span.events.isEmpty { fields["events"] = .array(span.events.map(json)) }
        switch span.status {
        case .unset: break
        case .ok: fields["status"] = .object(["code": .number(1)])
        case .error(let message):
            fields["status"] = .object(["code": .number(2), "message": .string(message)])
        }
        return .object(fields)
    }

    private static func json(_ event: FinishedSpan.Event) -> JSONValue {
        .object([
            "timeUnixNano": .string("\(event.time)"), "name": .string(event.name),
            "attributes": json(event.attributes),
        ])
    }

    private static func json(_ attributes: [FinishedSpan.Attribute]) -> JSONValue {
        .array(attributes.map { .object(["key": .string($0.name), "value": json($0.value)]) })
    }

    private static func json(_ value: FinishedSpan.Value) -> JSONValue {
        switch value {
        case .text(let text): .object(["stringValue": .string(text)])
        case .whole(let number): .object(["intValue": .string("\(number)")])
        // JSON has no infinities; proto3's JSON writes them as text.
        case .number(let number) where !number.isFinite:
            .object([
                "doubleValue": .string(
                    number.isNaN ? "NaN" : number > 0 ? "Infinity" : "-Infinity")
            ])
        case .number(let number): .object(["doubleValue": .number(number)])
        case .flag(let flag): .object(["boolValue": .bool(flag)])
        case .list(let values):
            .object(["arrayValue": .object(["values": .array(values.map(json))])])
        }
    }
}

/// The consequence of a collector's answer to a request.
///
/// Source: <https://opentelemetry.io/docs/specs/otlp/#otlphttp-response>.
public enum ExportPolicy {
    /// Most times that one request is sent.
    public static let triesMax = 5
    /// The wait after the first try; each one after that is twice as long.
    public static let delayMin: Duration = .seconds(1)
    /// The longest wait, also of one that the collector asks for.
    public static let delayMax: Duration = .seconds(30)

    /// How a try ended.
    public enum Answer: Sendable, Equatable {
        /// With a status, and the seconds of `Retry-After`, if it says some.
        case status(Int, retryAfter: Int? = nil)
        /// No answer: no connection, a broken one, or no answer in time.
        case none
    }

    /// The next step for the request.
    public enum Step: Sendable, Equatable {
        /// The collector accepted the spans.
        case done
        /// The request is sent again after this delay.
        case again(Duration)
        /// The spans are dropped: the collector will never accept them, or the attempts are used up.
        case drop
    }

    /// Returns the step that follows the answer to an attempt.
    ///
    /// - Parameters:
    ///   - number: The number of the attempt, from 1.
    ///   - random: 0 to 1; the wait is between half and all of its length, so that workers do not return together.
    public static func step(after answer: Answer, try number: Int, random: Double) -> Step {
        let asked: Int?
        switch answer {
        case .status(200..<300, _): return .done
        case .status(429, let seconds), .status(502, let seconds), .status(503, let seconds),
            .status(504, let seconds):
            asked = seconds
        case .status: return .drop
        case .none: asked = nil
        }
        guard number < triesMax else { return .drop }
        let usual = delayMin * (1 << (number - 1)) * (0.5 + random / 2)
        let delay = max(asked.map { .seconds(max(0, $0)) } ?? .zero, usual)
        return .again(min(delay, delayMax))
    }
}

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
