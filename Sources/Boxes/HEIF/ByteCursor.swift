/// Reads numbers from bytes, one behind the other; nil behind the end.
struct ByteCursor {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// A number of so many bytes, the highest first; nil at the end, or beyond what an `Int` holds. Of 0 bytes it is 0.
    mutating func number(_ count: Int) -> Int? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Int(exactly: rest.prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// So many bytes.
    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Four characters.
    mutating func type() -> String? { bytes(4).map { String(decoding: $0, as: UTF8.self) } }

    /// Characters up to the next NUL, which goes too, or to the end.
    mutating func text() -> String {
        let text = rest.prefix { $0 != 0 }
        rest = rest.dropFirst(text.count + 1)
        return String(decoding: text, as: UTF8.self)
    }
}
