@_spi(_Unicode) import Swift

/// The changes that a job makes to the metadata of a result: a value replaces, `null` removes, and what is not named stays.
///
/// Texts may have placeholders until they are filled in.
public struct MetadataChanges: Sendable, Equatable {
    public let values: [Field: Value]

    public enum Field: String, Sendable, CaseIterable {
        /// Names of the photographers.
        case creator
        case rights, caption
        /// The date and time at which the photo was taken.
        case date
        case title, headline, keywords
        /// −1 (rejected) to 5.
        case rating
        case credit, source, city, state, country, usageTerms, webStatement, licensorURL, contact
        /// The time of the change, written only where a photo states one; the worker sets it.
        case modified
    }

    /// The parts of `contact`.
    public enum ContactField: String, Sendable, CaseIterable {
        case email, url, phone, address, city, postcode, country
    }

    public enum Value: Sendable, Equatable {
        case text(Placeholders)
        case list([Placeholders])
        case rating(Int)
        case date(MetadataDate)
        case contact([ContactField: Placeholders])
        case removed

        /// The text, if nothing is to be filled in.
        public var literal: String? { if case .text(let text) = self { text.literal } else { nil } }
    }

    public init(_ values: [Field: Value] = [:]) { self.values = values }

    public subscript(field: Field) -> Value? { values[field] }

    public var isEmpty: Bool { values.isEmpty }

    /// Returns the changes with those of a rendition, which precede field by field.
    public func replaced(by own: MetadataChanges?) -> MetadataChanges {
        MetadataChanges(values.merging(own?.values ?? [:]) { $1 })
    }

    /// Returns only the changes of creator and rights, which also stripped files may have.
    public var ofRights: MetadataChanges {
        MetadataChanges(values.filter { $0.key == .creator || $0.key == .rights })
    }
}

// MARK: Filling in

extension MetadataChanges {
    private var texts: [Placeholders] {
        values.values.flatMap { value -> [Placeholders] in
            switch value {
            case .text(let text): [text]
            case .list(let texts): texts
            case .contact(let parts): Array(parts.values)
            case .rating, .date, .removed: []
            }
        }
    }

    /// Whether nothing is to be filled in.
    public var isFilled: Bool { texts.allSatisfy { $0.literal != nil } }

    /// Whether a placeholder's value is read from the photo.
    public var readsPhoto: Bool { texts.contains(where: \.readsPhoto) }

    /// Fills in all placeholders. One that names a field which the job writes has the written value; a field that is being filled in
    /// has the photo's own value, so that `"caption": "{caption} (edited)"` is possible.
    ///
    /// - Parameter path: of `metadata`, for errors.
    /// - Throws: `missingValue`, `oversizedField`.
    public func filled(
        by values: PlaceholderValues, at path: String = "edit.output.metadata"
    ) throws(Failure) -> MetadataChanges {
        guard !isFilled else { return self }
        let filling = Filling(changes: self, values: values, path: path)
        var filled: [Field: Value] = [:]
        for field in Field.allCases { filled[field] = try filling.filled(field, within: []) }
        return MetadataChanges(filled)
    }

    /// The fields while they are filled in. What one is within others is computed once, however often they name it.
    private final class Filling {
        private let changes: MetadataChanges
        private let values: PlaceholderValues
        private let path: String
        private var known: [Key: Result<Value, Failure>] = [:]

        private struct Key: Hashable { let field: Field, open: Set<Field> }

        init(changes: MetadataChanges, values: PlaceholderValues, path: String) {
            (self.changes, self.values, self.path) = (changes, values, path)
        }

        func filled(_ field: Field, within open: Set<Field>) throws(Failure) -> Value? {
            guard let value = changes.values[field] else { return nil }
            let key = Key(field: field, open: open)
            if let result = known[key] { return try result.get() }
            let result = Result { () throws(Failure) in
                try fill(value, of: field, within: open.union([field]))
            }
            known[key] = result
            return try result.get()
        }

        private func fill(
            _ value: Value, of field: Field, within open: Set<Field>
        ) throws(Failure) -> Value {
            let path = "\(path).\(field.rawValue)"
            func text(_ text: Placeholders, _ path: String) throws(Failure) -> Placeholders {
                guard text.literal == nil else { return text }
                let whole = try text.filled(at: path, field == .caption ? .lines : .line) {
                    self.value(of: $0, within: open)
                }
                return Placeholders(
                    literal: try MetadataChanges.checked(
                        whole, at: path, mayHaveLines: field == .caption, isFilled: true))
            }
            switch value {
            case .text(let template): return .text(try text(template, path))
            case .list(let templates):
                var texts: [Placeholders] = []
                for (index, template) in templates.enumerated() {
                    texts.append(try text(template, "\(path)[\(index)]"))
                }
                return .list(texts)
            case .contact(let parts):
                var texts: [ContactField: Placeholders] = [:]
                for (part, template) in parts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    texts[part] = try text(template, "\(path).\(part.rawValue)")
                }
                return .contact(texts)
            case .rating, .date, .removed: return value
            }
        }

        private func value(of placeholder: Placeholder, within open: Set<Field>) -> String? {
            guard let other = placeholder.field, changes.values[other] != nil,
                !open.contains(other)
            else { return values[placeholder] }
            do throws(Failure) {
                guard let written = try filled(other, within: open) else { return nil }
                return PlaceholderValues(
                    texts: values.texts.replaced(by: MetadataChanges([other: written])))[
                        placeholder]
            } catch {
                // The other field fails by its own name.
                return nil
            }
        }
    }
}

extension Placeholder {
    /// The field of metadata whose value it has.
    fileprivate var field: MetadataChanges.Field? {
        switch self {
        case .creator: .creator
        case .rights: .rights
        case .title: .title
        case .caption: .caption
        case .date: .date
        default: nil
        }
    }
}

// MARK: JSON

extension MetadataChanges {
    /// Reads `metadata`.
    ///
    /// - Throws: the first error in it, named by its path.
    init(_ value: JSONValue, at path: String) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: path, known: Field.allCases.map(\.rawValue).sorted())
        var values: [Field: Value] = [:]
        for field in Field.allCases {
            guard let value = reader.optional(field.rawValue) else { continue }
            values[field] =
                value == .null
                ? .removed : try Self.value(value, of: field, at: "\(path).\(field.rawValue)")
        }
        self.init(values)
    }

    private static func value(
        _ value: JSONValue, of field: Field, at path: String
    ) throws(Failure) -> Value {
        switch field {
        case .creator, .keywords:
            guard case .array(let items) = value, !items.isEmpty,
                items.count <= ContractLimits.metadataListMax
            else {
                throw Failure(
                    .invalidValue,
                    "\(path) is \(value.shortText); expected 1 to \(ContractLimits.metadataListMax) texts, or null to remove it."
                )
            }
            var texts: [Placeholders] = []
            for (index, item) in items.enumerated() {
                texts.append(try text(item, at: "\(path)[\(index)]"))
            }
            return .list(texts)
        case .rating:
            guard case .number(let number) = value, let whole = Int(exactly: number),
                (-1...5).contains(whole)
            else {
                throw Failure(
                    .invalidValue,
                    "\(path) is \(value.shortText); expected a whole number from -1 (rejected) to 5, or null to remove it."
                )
            }
            return .rating(whole)
        case .date, .modified:
            guard case .string(let text) = value, let date = MetadataDate(text) else {
                throw Failure(
                    .invalidValue,
                    "\(path) is \(value.shortText); expected a time such as \"2026-11-25T14:03:00+01:00\"; fractions of a "
                        + "second and the zone may be left out.")
            }
            return .date(date)
        case .contact:
            let reader = try JSONObjectReader(
                value, at: path, known: ContactField.allCases.map(\.rawValue).sorted())
            var parts: [ContactField: Placeholders] = [:]
            for part in ContactField.allCases {
                guard let value = reader.optional(part.rawValue) else { continue }
                parts[part] = try text(value, at: "\(path).\(part.rawValue)")
            }
            guard !parts.isEmpty else {
                throw Failure(
                    .invalidValue, "\(path) is empty; expected an object, or null to remove it.")
            }
            return .contact(parts)
        case .rights, .caption, .title, .headline, .credit, .source, .city, .state, .country,
            .usageTerms, .webStatement, .licensorURL:
            return .text(try text(value, at: path, mayHaveLines: field == .caption))
        }
    }

    private static func text(
        _ value: JSONValue, at path: String, mayHaveLines: Bool = false
    ) throws(Failure) -> Placeholders {
        guard case .string(let text) = value else {
            throw Failure(.invalidValue, "\(path) is \(value.kind); expected a text.")
        }
        return try Placeholders(
            checked(text.withLineFeeds, at: path, mayHaveLines: mayHaveLines), at: path)
    }

    /// Returns a text in Unicode's composed form.
    fileprivate static func checked(
        _ text: String, at path: String, mayHaveLines: Bool, isFilled: Bool = false
    ) throws(Failure) -> String {
        guard text.isStreamSafe else {
            throw Failure(
                .invalidValue,
                "\(path) has more than \(String.marksInARowMax) combining marks in a row.")
        }
        let most = ContractLimits.metadataTextMax
        guard text.count <= most else {
            throw Failure(
                .oversizedField,
                "\(path) has \(text.count) characters\(isFilled ? " with its placeholders filled in" : ""); at most \(most) "
                    + "are allowed.")
        }
        let other = text.unicodeScalars.first {
            $0.isForbiddenInMetadata || $0 == "\n" && !mayHaveLines
        }
        if let other {
            let code = String(other.value, radix: 16, uppercase: true)
            throw Failure(
                .invalidValue,
                "\(path) has the character U+\(String(repeating: "0", count: max(0, 4 - code.utf8.count)))\(code), which controls "
                    + "the display; only a caption may have line feeds.")
        }
        guard text.unicodeScalars.contains(where: { !$0.properties.isWhitespace && !$0.isFormat })
        else {
            throw Failure(
                .invalidValue, "\(path) is an empty text; use null to remove the value.")
        }
        var composed = String.UnicodeScalarView()
        composed.append(contentsOf: text._nfc)
        return String(composed)
    }

    public var json: JSONValue {
        .object(
            Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value.json) }))
    }
}

extension MetadataChanges.Value {
    var json: JSONValue {
        switch self {
        case .text(let text): .string(text.text)
        case .list(let texts): .array(texts.map { .string($0.text) })
        case .rating(let rating): .number(Double(rating))
        case .date(let date): .string(date.text)
        case .contact(let parts):
            .object(
                Dictionary(
                    uniqueKeysWithValues: parts.map { ($0.key.rawValue, .string($0.value.text)) }))
        case .removed: .null
        }
    }
}

extension JSONValue {
    /// The value for an error, cut.
    fileprivate var shortText: String {
        let text = canonical
        return text.count > 100 ? text.prefix(100) + "…" : text
    }
}

/// A date and time of metadata, perhaps with fractions of a second and a zone.
public struct MetadataDate: Sendable, Equatable {
    /// The date and time as an ISO 8601 text, as it was sent.
    public let text: String
    /// The date, and hour and minute.
    public let taken: PhotoDate
    public let second: Int
    /// The digits after the point; nil for none.
    public let fraction: String?
    /// `Z`, or hours and minutes with their sign; nil for none.
    public let zone: String?

    /// Reads `yyyy-MM-ddTHH:mm:ss`, then perhaps `.` and up to nine digits, then perhaps `Z` or `+HH:mm`.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let form = Array("0000-00-00T00:00:00".utf8)
        func isDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        guard bytes.count >= form.count,
            zip(bytes, form).allSatisfy({
                $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1
            })
        else { return nil }
        func number(_ range: Range<Int>) -> Int {
            bytes[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }
        guard
            let taken = PhotoDate(
                number(0..<4), number(5..<7), number(8..<10), hour: number(11..<13),
                minute: number(14..<16)), number(17..<19) < 60
        else { return nil }
        var rest = bytes[form.count...]
        var fraction: String?
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { isDigit($0) }
            guard (1...9).contains(digits.count) else { return nil }
            fraction = String(decoding: digits, as: UTF8.self)
            rest = rest.dropFirst(1 + digits.count)
        }
        var zone: String?
        if !rest.isEmpty {
            let text = String(decoding: rest, as: UTF8.self)
            if text != "Z" {
                let zoned = Array(rest)
                guard zoned.count == 6, "+-".utf8.contains(zoned[0]),
                    zoned[3] == UInt8(ascii: ":"),
                    [1, 2, 4, 5].allSatisfy({ isDigit(zoned[$0]) }),
                    let hours = Int(text.dropFirst().prefix(2)), hours <= 14,
                    let minutes = Int(text.suffix(2)), minutes < 60
                else { return nil }
            }
            zone = text
        }
        self.text = text
        self.taken = taken
        second = number(17..<19)
        self.fraction = fraction
        self.zone = zone
    }
}

extension Unicode.Scalar {
    /// Whether it is none of Unicode's characters, nor of XML's.
    var isNoncharacter: Bool {
        value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(value)
    }
}
