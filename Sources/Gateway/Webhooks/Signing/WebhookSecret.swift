import Edits
import FoundationEssentials

/// The secret that signs messages to an endpoint: `whsec_` and base64 of 24 to 64 bytes (Standard Webhooks). Descriptions
/// do not show it.
package struct WebhookSecret: Sendable, Equatable {
    private let bytes: [UInt8]

    private static let prefix = "whsec_"
    static let bytesRange = 24...64
    static let bytesMade = 32

    /// Creates a secret from the kernel's random numbers.
    package init() {
        var generator = SystemRandomNumberGenerator()
        bytes = (0..<Self.bytesMade).map { _ in .random(in: .min ... .max, using: &generator) }
    }

    /// - Throws: `invalidSecret`; the message does not repeat the text.
    package init(_ text: String) throws(WebhookError) {
        guard text.hasPrefix(Self.prefix),
            let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            Self.bytesRange.contains(data.count)
        else {
            throw WebhookError(
                .invalidSecret,
                "the secret is not whsec_ and base64 of \(Self.bytesRange.lowerBound) to "
                    + "\(Self.bytesRange.upperBound) bytes.")
        }
        bytes = Array(data)
    }

    /// The whole text, which the endpoint's owner receives once.
    package var revealed: String { Self.prefix + Data(bytes).base64EncodedString() }

    /// Returns the HMAC-SHA256 of a text in base64.
    func signature(of text: some Sequence<UInt8>) -> String {
        Data(HMAC.sha256(of: text, key: bytes)).base64EncodedString()
    }
}

extension WebhookSecret: CustomStringConvertible, CustomReflectable {
    package var description: String { Self.prefix + "…" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
