import Edits

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

/// A SHA-256 of an object's bytes.
public struct BlobDigest: Sendable, Hashable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Takes the 32 bytes of a digest.
    public init(_ bytes: [UInt8]) {
        precondition(bytes.count == SHA256.byteCount)
        self.bytes = bytes
    }

    /// Computes the digest of bytes in memory.
    public init(of bytes: some Sequence<UInt8>) { self.init(SHA256.hash(data: bytes)) }

    /// Parses 64 hexadecimal digits; nil for anything else.
    public init?(hex text: String) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        bytes = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Parses the 44 characters of `x-amz-checksum-sha256`; nil for anything else.
    ///
    /// It returns nil for a composite checksum, `…=-3`, which is a checksum of checksums and not
    /// of the object.
    init?(base64 text: String) {
        guard let bytes = Base64.decoded(text), bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// The digest as 64 lower-case hexadecimal digits.
    public var hex: String { bytes.hex }

    /// The digest as in `x-amz-checksum-sha256`.
    var base64: String { Base64.encoded(bytes) }

    /// The hexadecimal digits.
    public var description: String { hex }
}

/// Percent-encoding as SigV4 requires it: all but unreserved characters, with upper-case digits.
///
/// Source: Amazon S3 API reference, "Signature Calculations", `UriEncode`.
enum PercentCoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Encodes every byte of `text` but `A-Z a-z 0-9 - . _ ~` as `%XX`.
    ///
    /// - Parameter keepsSlash: Whether `/` is not encoded, as in paths.
    static func encoded(_ text: some StringProtocol, keepsSlash: Bool = false) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 8)
        for byte in text.utf8 {
            if isUnreserved(byte) || (keepsSlash && byte == UInt8(ascii: "/")) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 0xF)])
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes each `%XX` in `text`; nil if one is truncated or the result is not UTF-8.
    static func decoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let high = value(rest.removeFirst()),
                let low = value(rest.removeFirst())
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
