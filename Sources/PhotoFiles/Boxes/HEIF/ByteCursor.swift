/// Reads consecutive numbers from bytes; nil after the end.
struct ByteCursor {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// Reads a big-endian number of `count` bytes; nil at the end, or if it exceeds an `Int`. A number of 0 bytes is 0.
    mutating func number(_ count: Int) -> Int? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Int(exactly: rest.prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Reads `count` bytes.
    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Reads four characters.
    mutating func type() -> String? { bytes(4).map { String(decoding: $0, as: UTF8.self) } }

    /// Reads characters up to and including the next NUL, or to the end.
    mutating func text() -> String {
        let text = rest.prefix { $0 != 0 }
        rest = rest.dropFirst(text.count + 1)
        return String(decoding: text, as: UTF8.self)
    }
}
