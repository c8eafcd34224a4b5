extension Sequence<UInt8> {
    /// The number that the bytes are; modulo 2⁶⁴ if there are more than eight.
    func number(isBig: Bool = true) -> UInt64 {
        isBig
            ? reduce(0) { $0 << 8 | UInt64($1) }
            : reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Reads consecutive big-endian numbers from bytes; nil after the end.
public struct ByteCursor {
    public private(set) var rest: ArraySlice<UInt8>

    /// - Parameter offset: where reading begins; beyond the bytes, there is nothing to read.
    public init(_ bytes: some Collection<UInt8>, at offset: Int = 0) {
        rest = offset < 0 ? [] : ArraySlice(bytes.dropFirst(offset))
    }

    public var isAtEnd: Bool { rest.isEmpty }

    /// Reads a number of `count` bytes; nil at the end, or if it exceeds an `Int`. A number of 0 bytes is 0.
    public mutating func number(_ count: Int) -> Int? {
        bytes(count).flatMap { Int(exactly: $0.number()) }
    }

    /// Reads a signed number of 16 bits before the point and 16 after it.
    public mutating func fixed() -> Double? {
        number(4).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
    }

    public mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Reads four characters.
    public mutating func type() -> String? { bytes(4).map { String(decoding: $0, as: UTF8.self) } }

    /// Reads characters up to and including the next NUL, or to the end.
    mutating func text() -> String {
        let text = rest.prefix { $0 != 0 }
        rest = rest.dropFirst(text.count + 1)
        return String(decoding: text, as: UTF8.self)
    }
}

/// Reads consecutive bits from bytes.
public struct BitReader {
    private let bytes: [UInt8]
    private let highestFirst: Bool
    private var offset = 0

    /// - Parameter highestFirst: whether the highest bit of each byte is read first.
    public init(_ bytes: some Sequence<UInt8>, highestFirst: Bool = false) {
        self.bytes = Array(bytes)
        self.highestFirst = highestFirst
    }

    public var isAtEnd: Bool { offset >= 8 * bytes.count }

    public mutating func skip(_ count: Int) { offset += count }

    /// Reads a bit; nil after the end.
    public mutating func bit() -> Int? {
        defer { offset += 1 }
        guard !isAtEnd else { return nil }
        let bit = highestFirst ? 7 - offset % 8 : offset % 8
        return Int(bytes[offset / 8] >> bit & 1)
    }

    /// Reads a number whose lowest bit is first; bits after the end are 0.
    public mutating func read(_ count: Int) -> Int {
        var number = 0
        for bit in 0..<count { number |= (self.bit() ?? 0) << bit }
        return number
    }
}
