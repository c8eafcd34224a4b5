/// The position of a piece of work in a distributed trace, as W3C Trace Context writes it:
/// `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
///
/// Producers send it with a job, clients of the gateway with a request, and readers of events find it there. It comes
/// from strangers, and the work never depends on it: what is no valid one is passed over as if it were absent.
///
/// Source: <https://www.w3.org/TR/trace-context-1/#traceparent-header>.
public struct Traceparent: Sendable, Hashable {
    /// Bytes of a written one of version 00.
    public static let length = 55

    /// The trace: 16 bytes, not all zero.
    public let trace: TraceID
    /// The span: 8 bytes, not all zero.
    public let span: SpanID
    /// Whether the caller records the trace; the flag `sampled`.
    public let isSampled: Bool

    /// A position.
    public init(trace: TraceID, span: SpanID, isSampled: Bool) {
        self.trace = trace
        self.span = span
        self.isSampled = isSampled
    }

    /// Reads one. Of a version after 00 what version 00 knows is read, as the specification says.
    ///
    /// - Returns: nil when it is not valid: of another form, in capital letters, or all zero.
    public init?(_ text: String) {
        let bytes = Array(text.utf8.prefix(Self.length + 1))
        guard bytes.count >= Self.length,
            [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") })
        else { return nil }
        guard let version = Self.number(bytes[0..<2]), version != 0xff,
            let flags = Self.number(bytes[53..<55]),
            let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]),
            let trace = TraceID(high: high, low: low),
            let span = Self.number(bytes[36..<52]).flatMap(SpanID.init)
        else { return nil }
        // A later version may go on after another dash.
        let goesOn = bytes.count > Self.length
        guard !goesOn || version > 0 && bytes[Self.length] == UInt8(ascii: "-") else { return nil }
        self.init(trace: trace, span: span, isSampled: flags & 1 == 1)
    }

    /// A number in lower-case hex.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}

extension Traceparent: CustomStringConvertible {
    /// As version 00 writes it; of the flags `sampled` alone.
    public var description: String { "00-\(trace)-\(span)-\(isSampled ? "01" : "00")" }
}

/// The name of a trace: 16 bytes, not all zero.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    /// The last 8 bytes, by which a share of traces is chosen: W3C wants randomness there.
    public let low: UInt64

    /// A name; nil when it is zero.
    public init?(high: UInt64, low: UInt64) {
        guard high | low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// A fresh name.
    public static func random() -> TraceID {
        var random = SystemRandomNumberGenerator()
        while true {
            if let id = TraceID(high: random.next(), low: random.next()) { return id }
        }
    }

    /// 32 digits in lower-case hex.
    public var description: String { SpanID.hex(high) + SpanID.hex(low) }
}

/// The name of a span within its trace: 8 bytes, not all zero.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
    private let number: UInt64

    /// A name; nil when it is zero.
    public init?(_ number: UInt64) {
        guard number != 0 else { return nil }
        self.number = number
    }

    /// A fresh name.
    public static func random() -> SpanID {
        var random = SystemRandomNumberGenerator()
        while true {
            if let id = SpanID(random.next()) { return id }
        }
    }

    /// 16 digits in lower-case hex.
    public var description: String { Self.hex(number) }

    fileprivate static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
