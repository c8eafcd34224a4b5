/// Base64 with padding. Source: RFC 4648, 4.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            word &= 0xFF_FFFF
            for digit in 0..<4 {
                let isPadding = digit > group.count
                text.append(
                    isPadding ? UInt8(ascii: "=") : alphabet[word >> (18 - 6 * digit) & 0x3F])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes base64; nil if `text` is not valid base64 of whole groups.
    static func decoded(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count % 4 == 0 else { return nil }
        let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: characters.count, by: 4) {
            var word = 0
            for character in characters[start..<start + 4] {
                let isPadding = character == UInt8(ascii: "=")
                guard let value = isPadding ? 0 : alphabet.firstIndex(of: character) else {
                    return nil
                }
                word = word << 6 | value
            }
            bytes += [UInt8(word >> 16 & 0xFF), UInt8(word >> 8 & 0xFF), UInt8(word & 0xFF)]
        }
        bytes.removeLast(padding)
        // Rejects "=" before the end, and nonzero unused bits: both encode to another text.
        return encoded(bytes) == text ? bytes : nil
    }
}
