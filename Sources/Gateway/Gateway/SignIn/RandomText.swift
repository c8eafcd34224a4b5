import Edits
package import FoundationEssentials

/// Random texts that cannot be guessed: 256 bits from the kernel, as 43 characters of base64url.
package enum RandomText {
    private static let bytes = 32
    package static let length = 43

    package static func make() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<bytes).map { _ in UInt8.random(in: 0...255, using: &random) }.base64URL
    }

    /// Returns whether a text has the form of a random text.
    package static func isOne(_ text: some StringProtocol) -> Bool {
        text.utf8.count == length
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

extension Sequence<UInt8> {
    /// The bytes in base64 for URLs, without padding (RFC 4648, 5).
    package var base64URL: String {
        Data(self).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}

extension Data {
    /// Decodes text in base64 for URLs without padding; nil if the text has another form.
    package init?(base64URL text: some StringProtocol) {
        guard !text.utf8.contains(where: { [0x2B, 0x2F, 0x3D].contains($0) }) else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        self.init(
            base64Encoded: String(text).replacing("-", with: "+").replacing("_", with: "/")
                + padding)
    }
}

/// Returns whether two texts have the same bytes; the time does not depend on the place of a difference.
package func isSameSecret(_ one: String, _ other: String) -> Bool {
    // Digests are compared: they have equal lengths, and a difference reveals nothing about the texts.
    SHA256.hash(data: one.utf8) == SHA256.hash(data: other.utf8)
}
