import Edits

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
