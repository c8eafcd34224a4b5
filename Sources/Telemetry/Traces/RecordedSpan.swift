public import Edits
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
        let name =
            (error as? Failure)?.code.rawValue ?? (error as? any NamedError)?.name
            ?? "\(type(of: error))"
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

/// A span that has ended: a value, ready to be sent.
public struct FinishedSpan: Sendable, Equatable {
    /// Most attributes of a span and of an event; more are left out.
    public static let attributesMax = 64
    /// Most events of a span; more are left out.
    public static let eventsMax = 32
    /// Most characters of a text; the rest is cut off.
    public static let textMax = 1024

    /// The role of the span in the exchange, with the numbers of OTLP's `SpanKind`.
    public enum Kind: Int, Sendable {
        case `internal` = 1, server, client, producer, consumer
    }

    /// A value of an attribute.
    public enum Value: Sendable, Equatable {
        case text(String)
        case whole(Int64)
        case number(Double)
        case flag(Bool)
        case list([Value])
    }

    /// A name and its value.
    public struct Attribute: Sendable, Equatable {
        public let name: String
        public let value: Value

        public init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// Something that happened in the course of it.
    public struct Event: Sendable, Equatable {
        public let name: String
        /// ns since 1970.
        public let time: UInt64
        public let attributes: [Attribute]

        public init(name: String, time: UInt64, attributes: [Attribute]) {
            self.name = name
            self.time = time
            self.attributes = attributes
        }
    }

    /// How it ended.
    public enum Status: Sendable, Equatable {
        case unset
        case ok
        case error(String)
    }

    public let name: String
    public let kind: Kind
    public let traceparent: Traceparent
    /// The span that it is a part of; nil for the first of a trace.
    public let parent: SpanID?
    /// ns since 1970.
    public let begin: UInt64
    /// ns since 1970, not before ``begin``.
    public let end: UInt64
    public let attributes: [Attribute]
    public let events: [Event]
    public let status: Status

    public init(
        name: String, kind: Kind, traceparent: Traceparent, parent: SpanID?, begin: UInt64,
        end: UInt64,
        attributes: [Attribute] = [], events: [Event] = [], status: Status = .unset
    ) {
        self.name = name
        self.kind = kind
        self.traceparent = traceparent
        self.parent = parent
        self.begin = begin
        self.end = max(begin, end)
        self.attributes = attributes
        self.events = events
        self.status = status
    }

    /// Bytes of memory that it takes, about; its JSON has twice as many at most, but for texts that have to be escaped.
    public var bytes: Int {
        func bytes(_ value: Value) -> Int {
            switch value {
            case .text(let text): 32 + text.utf8.count
            case .whole, .number, .flag: 32
            case .list(let values): 32 + values.reduce(0) { $0 + bytes($1) }
            }
        }
        func bytes(_ attributes: [Attribute]) -> Int {
            attributes.reduce(0) { $0 + 32 + $1.name.utf8.count + bytes($1.value) }
        }
        return 256 + name.utf8.count + bytes(attributes)
            + events.reduce(0) { $0 + 64 + $1.name.utf8.count + bytes($1.attributes) }
    }
}

/// Spans that wait to be sent, within limits: what comes when it is full is not kept, and counted.
public struct SpanBuffer: Sendable {
    public static let spansMax = 8192
    /// Most bytes of them, as ``FinishedSpan/bytes`` tells.
    public static let bytesMax = 16 << 20
    /// Most spans of one request; with so many it is sent at once.
    public static let batchMax = 512
    /// Most bytes of one request, likewise; a span that is larger goes alone.
    public static let batchBytesMax = 1 << 20

    private var spans: [FinishedSpan] = []
    private var bytes = 0

    public init() {}

    public var count: Int { spans.count }

    /// Whether a request can be filled.
    public var hasBatch: Bool { spans.count >= Self.batchMax || bytes >= Self.batchBytesMax }

    /// Keeps a span.
    ///
    /// - Returns: whether there was room.
    public mutating func add(_ span: FinishedSpan) -> Bool {
        let size = span.bytes
        guard spans.count < Self.spansMax, bytes + size <= Self.bytesMax else { return false }
        spans.append(span)
        bytes += size
        return true
    }

    /// Removes the spans of the next request and returns them, the oldest first; empty when none waits.
    public mutating func removeBatch() -> [FinishedSpan] {
        var count = 0
        var size = 0
        for span in spans.prefix(Self.batchMax) {
            let next = span.bytes
            if count > 0, size + next > Self.batchBytesMax { break }
            count += 1
            size += next
        }
        defer { spans.removeFirst(count) }
        bytes -= size
        return Array(spans.prefix(count))
    }
}
