/// An entity tag (RFC 9110, 8.8.3), which identifies the bytes of a representation.
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    package let value: String
    /// Whether equal tags promise only equivalent content, not equal bytes.
    package let isWeak: Bool

    /// The most tags of a list that are parsed.
    private static let listMax = 64

    /// Creates a tag. The value must have only the characters that a tag allows.
    package init(_ value: String, isWeak: Bool = false) {
        (self.value, self.isWeak) = (value, isWeak)
    }

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

/// The preconditions of a request, evaluated in the order of RFC 9110, 13.2.2.
///
/// Dates are ignored, because the gateway's responses have none.
package struct Preconditions: Sendable, Equatable {
    /// The lines of `If-Match` and `If-None-Match`; empty if the request has none.
    package let ifMatch, ifNoneMatch: [String]

    /// Creates the preconditions from header fields.
    package init(ifMatch: [String], ifNoneMatch: [String]) {
        (self.ifMatch, self.ifNoneMatch) = (ifMatch, ifNoneMatch)
    }

    package enum Verdict: Sendable, Equatable {
        case proceed
        /// 304: the client has the current bytes.
        case notModified
        /// 412: a precondition failed.
        case failed
    }

    /// Evaluates the preconditions.
    ///
    /// - Parameters:
    ///   - tag: the tag of the existing resource; nil if it does not exist or has no tag.
    ///   - isThere: whether the resource exists.
    ///   - isReading: whether the method is GET or HEAD.
    package func verdict(tag: EntityTag?, isThere: Bool, isReading: Bool) -> Verdict {
        if !ifMatch.isEmpty, !matches(ifMatch, tag, isThere, { $0.isSameBytes(as: $1) }) {
            return .failed
        }
        if !ifNoneMatch.isEmpty, matches(ifNoneMatch, tag, isThere, { $0.isSameMeaning(as: $1) }) {
            return isReading ? .notModified : .failed
        }
        return .proceed
    }

    private func matches(
        _ lines: [String], _ tag: EntityTag?, _ isThere: Bool,
        _ isSame: (EntityTag, EntityTag) -> Bool
    ) -> Bool {
        let text = lines.joined(separator: ",")
        if text == "*" { return isThere }
        guard let tag, let known = EntityTag.list(text) else { return false }
        return known.contains { isSame($0, tag) }
    }
}

/// The part of a file that a request asks for (RFC 9110, 14).
package enum ByteRange: Sendable, Equatable {
    /// The whole file: there is no range, its unit is unknown, it is malformed, or there are several, which are not
    /// supported.
    case whole
    /// These bytes, at least one.
    case part(Range<Int>)
    /// 416: none of the bytes exist.
    case unsatisfiable

    /// Parses a range.
    ///
    /// - Parameters:
    ///   - field: the field `Range`; nil if there is none.
    ///   - ifRange: the field `If-Range`; the range applies only to the bytes of this tag.
    ///   - tag: the file's tag.
    ///   - size: the file's size in bytes.
    package init(_ field: String?, ifRange: String?, tag: EntityTag?, size: Int) {
        guard let field, Self.isMeant(ifRange, tag), let range = Self.range(field) else {
            self = .whole
            return
        }
        let found: Range<Int>
        switch range {
        case .last(let count): found = size - min(size, count)..<size
        case .from(let first, let last):
            let end = last.map { $0 < size ? $0 + 1 : size } ?? size
            found = first < size ? first..<end : size..<size
        }
        self = found.isEmpty ? .unsatisfiable : .part(found)
    }

    private enum Wish {
        case last(Int)
        case from(Int, to: Int?)
    }

    /// Returns whether the condition `If-Range` allows the range. A date never does, because the gateway sends no
    /// `Last-Modified`.
    private static func isMeant(_ ifRange: String?, _ tag: EntityTag?) -> Bool {
        guard let ifRange else { return true }
        guard let tag, let wanted = EntityTag.list(ifRange), wanted.count == 1 else { return false }
        return wanted[0].isSameBytes(as: tag)
    }

    private static func range(_ field: String) -> Wish? {
        let unit = "bytes="
        guard field.utf8.count < 64, field.lowercased().hasPrefix(unit) else { return nil }
        let parts = field.dropFirst(unit.count).split(
            separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        switch (number(parts[0]), number(parts[1])) {
        case (nil, let count?) where parts[0].isEmpty: return .last(count)
        case (let first?, nil) where parts[1].isEmpty: return .from(first, to: nil)
        case (let first?, let last?) where first <= last: return .from(first, to: last)
        default: return nil
        }
    }

    /// Parses a number. One that overflows becomes the largest number, which lies behind the end of every file.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text) ?? .max
    }
}
