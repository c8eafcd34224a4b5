import Edits

/// The text of a key, as its holder sends it: `mlk_<id>_<secret>_<checksum>`.
///
/// The id, 12 characters, is not a secret: lists and logs name keys by it. The secret is 43 characters of an alphabet of 62, 256
/// random bits. The checksum is the CRC-32 of all characters before it in hexadecimal, so that a mistyped key is refused without
/// a look-up, and a scanner for leaked secrets finds keys and nothing else. Descriptions do not show the secret.
package struct KeyText: Sendable {
    package let id: String
    private let secret: String

    private static let prefix = "mlk"
    static let idLength = 12
    /// log2(62) × 43 = 256.03 bits.
    static let secretLength = 43
    static let checksumLength = 8
    /// The length of a whole key, in bytes.
    package static let length = prefix.utf8.count + idLength + secretLength + checksumLength + 3

    /// Digits and lower-case letters without i, l, o and u, which people confuse (Crockford's Base32).
    private static let idAlphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private static let secretAlphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    private static func isIDCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "i"), UInt8(ascii: "l"), UInt8(ascii: "o"), UInt8(ascii: "u"): false
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: false
        }
    }

    private static func isSecretCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    /// Creates a key from the kernel's random numbers.
    package init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    init(using generator: inout some RandomNumberGenerator) {
        id = Self.text(Self.idLength, of: Self.idAlphabet, &generator)
        secret = Self.text(Self.secretLength, of: Self.secretAlphabet, &generator)
    }

    /// Decodes a key.
    ///
    /// - Throws: `malformedKey`; the message does not repeat the text.
    package init(_ text: some StringProtocol) throws(KeyError) {
        guard text.utf8.count == Self.length else {
            throw Self.malformed("it has \(text.utf8.count) bytes; a key has \(Self.length)")
        }
        let parts = text.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].elementsEqual(Self.prefix.utf8) else {
            throw Self.malformed("it is not of the form mlk_<id>_<secret>_<checksum>")
        }
        guard parts[1].count == Self.idLength, parts[1].allSatisfy(Self.isIDCharacter),
            parts[2].count == Self.secretLength, parts[2].allSatisfy(Self.isSecretCharacter)
        else { throw Self.malformed("it has characters that no key has") }
        id = String(decoding: parts[1], as: UTF8.self)
        secret = String(decoding: parts[2], as: UTF8.self)
        guard parts[3].elementsEqual(checksum.utf8) else {
            throw Self.malformed("its checksum is wrong, so it was mistyped or cut off")
        }
    }

    /// The whole key, including the secret, which its holder receives once.
    package var revealed: String { "\(unchecked)_\(checksum)" }

    /// The SHA-256 of the secret, the only stored form. A secret of 256 random bits needs no slow hash.
    var digest: [UInt8] { SHA256.hash(data: secret.utf8) }

    /// Returns whether a text has the form of an id, without a look-up.
    package static func isID(_ text: String) -> Bool {
        text.utf8.count == idLength && text.utf8.allSatisfy(isIDCharacter)
    }

    private var unchecked: String { "\(Self.prefix)_\(id)_\(secret)" }

    private var checksum: String {
        let digits = String(crc32(unchecked.utf8), radix: 16)
        return String(repeating: "0", count: Self.checksumLength - digits.count) + digits
    }

    private static func text(
        _ length: Int, of alphabet: [UInt8], _ generator: inout some RandomNumberGenerator
    ) -> String {
        String(
            decoding: (0..<length).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }, as: UTF8.self)
    }

    private static func malformed(_ reason: String) -> KeyError {
        KeyError(
            .malformedKey,
            "the text is no key: \(reason). Send Authorization: Bearer and the key as minilab key create printed it."
        )
    }
}

extension KeyText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(Self.prefix)_\(id)_…" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// Returns the CRC-32 as zlib and PNG compute it.
///
/// Source: ISO 3309, reflected polynomial 0xEDB88320.
func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(~0 as UInt32) { crc, byte in
        crc >> 8 ^ remainders[Int(UInt8(truncatingIfNeeded: crc) ^ byte)]
    }
}

/// The change of the checksum by each value of a byte.
private let remainders: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(byte) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
}
