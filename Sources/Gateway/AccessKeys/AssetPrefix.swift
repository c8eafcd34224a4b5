import Edits

/// The folder of a key's assets: empty for all, or a path that ends with `/`.
///
/// Assets are compared byte by byte, like in the file system: `acme/` contains `acme/a.jpg`, but neither `acmes/a.jpg` nor the
/// folder in another Unicode normalization.
package struct AssetPrefix: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The text.
    package let string: String

    /// All assets.
    package static let all = AssetPrefix()

    private init() { string = "" }

    /// Checks a prefix: the part before its last `/` must be an asset's path.
    ///
    /// - Throws: `invalidTerms`.
    package init(_ string: String) throws(KeyError) {
        self.string = string
        if string.isEmpty { return }
        guard string.utf8.last == UInt8(ascii: "/") else {
            throw Self.refusal(string, "it does not end in /")
        }
        do {
            _ = try AssetPath(String(decoding: string.utf8.dropLast(), as: UTF8.self))
        } catch {
            throw Self.refusal(string, error.message)
        }
    }

    package init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }

    package var description: String { string }

    private static func refusal(_ string: String, _ reason: String) -> KeyError {
        KeyError(
            .invalidTerms,
            "prefix \(String(string.prefix(200)).debugDescription.printable) is no folder of assets: \(reason). Give one as "
                + "in acme/ or acme/2026/, or an empty one for all assets.")
    }
}
