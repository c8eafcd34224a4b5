import Edits

extension JSONValue {
    /// The maximum nesting of arrays and objects in a provider's document.
    static let depthMax = 16

    /// Decodes a provider's document; nil if the bytes are not JSON, or are nested deeper than ``depthMax``.
    init?(ofProvider bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard Self.isShallow(bytes), let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        do {
            self = try JSONValue(parsing: text, as: "the document")
        } catch {
            return nil
        }
    }

    /// Brackets inside strings count as well: no provider's document has so many.
    private static func isShallow(_ bytes: [UInt8]) -> Bool {
        var depth = 0
        for byte in bytes {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { depth += 1 }
            if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { depth = max(0, depth - 1) }
            if depth > depthMax { return false }
        }
        return true
    }

    subscript(_ name: String) -> JSONValue? {
        if case .object(let fields) = self { fields[name] } else { nil }
    }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    /// The elements of an array of strings, or a single string; nil for any other value.
    var texts: [String]? {
        switch self {
        case .string(let text): return [text]
        case .array(let values):
            let texts = values.compactMap(\.text)
            return texts.count == values.count ? texts : nil
        case .null, .bool, .number, .object: return nil
        }
    }
}
