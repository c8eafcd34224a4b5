public import Edits

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

        /// An attribute.
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

        /// An event.
        public init(name: String, time: UInt64, attributes: [Attribute]) {
            self.name = name
            self.time = time
            self.attributes = attributes
        }
    }

    /// How it ended.
    public enum Status: Sendable, Equatable {
        /// Nobody says.
        case unset
        /// Well.
        case ok
        /// By this error.
        case error(String)
    }

    public let name: String
    public let kind: Kind
    /// Itself.
    public let traceparent: Traceparent
    /// The span that it is a part of; nil for the first of a trace.
    public let parent: SpanID?
    /// ns since 1970.
    public let begin: UInt64
    /// ns since 1970, not before ``begin``.
    public let end: UInt64
    /// By name.
    public let attributes: [Attribute]
    public let events: [Event]
    public let status: Status

    /// A span.
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
