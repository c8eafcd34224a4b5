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
