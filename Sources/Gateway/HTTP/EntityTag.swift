/// An entity tag (RFC 9110, 8.8.3): names the bytes of a representation.
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// The text between the quotes.
    package let value: String
    /// Whether equal tags promise equal meaning only, not equal bytes.
    package let isWeak: Bool

    /// Longest list of tags that is looked through.
    private static let listMax = 64

    /// A tag of characters that a tag may have.
    package init(_ value: String, isWeak: Bool = false) {
        (self.value, self.isWeak) = (value, isWeak)
    }

    /// As a header field has it.
    package var description: String { (isWeak ? "W/" : "") + "\"\(value)\"" }

    /// Whether both name the same bytes.
    package func isSameBytes(as other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && value.utf8.elementsEqual(other.value.utf8)
    }

    /// Whether both name the same meaning.
    package func isSameMeaning(as other: EntityTag) -> Bool {
        value.utf8.elementsEqual(other.value.utf8)
    }

    /// The tags of a field, or nil when the field is no list of tags, or a too long one.
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

    /// Takes one tag from the beginning of a text.
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
