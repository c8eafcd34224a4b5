import Edits
import Synchronization
public import Tracing

/// A span while it lasts. One that is not recorded only passes its traceparent on.
public final class RecordedSpan: Span {
    private struct State: ~Copyable {
        var name: String
        var attributes: SpanAttributes = [:]
        var events: [FinishedSpan.Event] = []
        var status = FinishedSpan.Status.unset
        var isOver = false
    }

    public let context: ServiceContext
    public let isRecording: Bool
    private let kind: SpanKind
    private let parent: SpanID?
    private let begin: UInt64
    private let finished: @Sendable (FinishedSpan) -> Void
    private let state: Mutex<State>

    init(
        _ name: String, _ kind: SpanKind, in context: ServiceContext, parent: SpanID?,
        begin: UInt64, finished: @escaping @Sendable (FinishedSpan) -> Void
    ) {
        self.context = context
        isRecording = context.traceparent?.isSampled ?? false
        self.kind = kind
        self.parent = parent
        self.begin = begin
        self.finished = finished
        state = Mutex(State(name: name))
    }

    public var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set {
            guard isRecording else { return }
            state.withLock { $0.attributes = newValue }
        }
    }

    public func setStatus(_ status: SpanStatus) {
        state.withLock {
            $0.status = status.code == .ok ? .ok : .error(FinishedSpan.cut(status.message ?? ""))
        }
    }

    public func addEvent(_ event: SpanEvent) {
        add(
            FinishedSpan.Event(
                name: FinishedSpan.cut(event.name), time: event.nanosecondsSinceEpoch,
                attributes: FinishedSpan.attributes(event.attributes)))
    }

    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        guard isRecording else { return }
        var attributes = attributes
        let name = (error as? Failure)?.code.rawValue ?? "\(type(of: error))"
        attributes["exception.type"] = name
        // The text of a foreign error may quote the request, including its secrets.
        if let failure = error as? Failure { attributes["exception.message"] = failure.message }
        add(
            FinishedSpan.Event(
                name: "exception", time: instant().nanosecondsSinceEpoch,
                attributes: FinishedSpan.attributes(attributes)))
        state.withLock {
            $0.attributes["error.type"] = name
            $0.status = .error(FinishedSpan.cut((error as? Failure)?.message ?? name))
        }
    }

    private func add(_ event: FinishedSpan.Event) {
        guard isRecording else { return }
        state.withLock {
            guard $0.events.count < FinishedSpan.eventsMax else { return }
            $0.events.append(event)
        }
    }

    /// Links are not sent: a span of ours follows from one other at most.
    public func addLink(_ link: SpanLink) {}

    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard isRecording, let traceparent = context.traceparent else { return }
        let end = instant().nanosecondsSinceEpoch
        let span = state.withLock { state -> FinishedSpan? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return FinishedSpan(
                name: FinishedSpan.cut(state.name), kind: FinishedSpan.Kind(kind),
                traceparent: traceparent,
                parent: parent, begin: begin, end: end,
                attributes: FinishedSpan.attributes(state.attributes), events: state.events,
                status: state.status)
        }
        if let span { finished(span) }
    }
}

extension FinishedSpan {
    /// A text within its limit.
    static func cut(_ text: String) -> String { String(text.prefix(textMax)) }

    /// Attributes within their limits, by name so that texts compare.
    static func attributes(_ given: SpanAttributes) -> [Attribute] {
        var attributes: [Attribute] = []
        given.forEach { name, value in
            if let value = Value(value) { attributes.append(Attribute(cut(name), value)) }
        }
        return Array(attributes.sorted { $0.name < $1.name }.prefix(attributesMax))
    }
}

extension FinishedSpan.Kind {
    init(_ kind: SpanKind) {
        self =
            switch kind {
            case .internal: .internal
            case .server: .server
            case .client: .client
            case .producer: .producer
            case .consumer: .consumer
            }
    }
}

extension FinishedSpan.Value {
    /// nil for a kind of value that this version does not know.
    init?(_ attribute: SpanAttribute) {
        func list<Element>(_ values: [Element], _ one: (Element) -> Self) -> Self {
            .list(values.prefix(FinishedSpan.attributesMax).map(one))
        }
        switch attribute {
        case .int32(let value): self = .whole(Int64(value))
        case .int64(let value): self = .whole(value)
        case .double(let value): self = .number(value)
        case .bool(let value): self = .flag(value)
        case .string(let value): self = .text(FinishedSpan.cut(value))
        case .stringConvertible(let value): self = .text(FinishedSpan.cut("\(value)"))
        case .int32Array(let values): self = list(values) { .whole(Int64($0)) }
        case .int64Array(let values): self = list(values) { .whole($0) }
        case .doubleArray(let values): self = list(values) { .number($0) }
        case .boolArray(let values): self = list(values) { .flag($0) }
        case .stringArray(let values): self = list(values) { .text(FinishedSpan.cut($0)) }
        case .stringConvertibleArray(let values):
            self = list(values) { .text(FinishedSpan.cut("\($0)")) }
        default: return nil
        }
    }
}
