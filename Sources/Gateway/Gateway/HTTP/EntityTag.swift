/// An entity tag (RFC 9110, 8.8.3), which identifies the bytes of a representation.
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// The text between the quotes.
    package let value: String
    /// Whether equal tags promise only equivalent content, not equal bytes.
    package let isWeak: Bool

    /// The most tags of a list that are parsed.
    private static let listMax = 64

    /// Creates a tag. The value must have only the characters that a tag allows.
    package init(_ value: String, isWeak: Bool = false) {
        (self.value, self.isWeak) = (value, isWeak)
    }

    /// The tag in the syntax of a header field.
    package var description: String { (isWeak ? "W/" : "") + "\"\(value)\"" }

    /// Returns whether both tags identify the same bytes (strong comparison).
    package func isSameBytes(as other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && value.utf8.elementsEqual(other.value.utf8)
    }

    /// Returns whether both tags identify equivalent content (weak comparison).
    package func isSameMeaning(as other: EntityTag) -> Bool {
        value.utf8.elementsEqual(other.value.utf8)
    }

    /// Returns the tags of a field; nil if the field is malformed or has too many tags.
    package static func list(_ text: String) -> [EntityTag]? {
        var tags: [EntityTag] = []
        var rest = Substring(text).utf8
        while true {
            rest = rest.drop { $0 == 32 || $0 == 9 || $0 == UInt8(ascii: ",") }
            guard !rest.isEmpty else { return tags }
            guard tags.count < listMax, let tag = next(&rest) else { return nil }
            tags.append(tag)
            rest = rest.drop { $0 == 32 || $0 == 9 }
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
        }
    }

    /// Removes one tag from the beginning of a text and returns it.
    private static func next(_ rest: inout Substring.UTF8View) -> EntityTag? {
        let isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest = rest.dropFirst(2) }
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        rest = rest.dropFirst()
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let value = rest[..<end]
        guard value.allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 }) else {
            return nil
        }
        rest = rest[end...].dropFirst()
        return EntityTag(String(Substring(value)), isWeak: isWeak)
    }
}
