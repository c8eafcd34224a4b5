import Mustache

/// The escaping of text for HTML, in elements and in quoted attributes.
///
/// swift-mustache 2.1.1 escapes by characters. A quote followed by a combining accent is one character that differs
/// from a quote, so it stays unescaped, but it ends an attribute in a browser. This type escapes by bytes.
struct Escaping: MustacheContentType {
    /// The name by which templates select it.
    static let name = "ESCAPED"

    func escapeText(_ text: String) -> String { Self.escape(text) }

    static func escape(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            case UInt8(ascii: "`"): bytes += "&#96;".utf8
            // HTML forbids U+0000.
            case 0: bytes += "\u{FFFD}".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
