package import Adjustments

/// The asset that the tail of a request's path names.
package enum TargetPath {
    /// Decodes percent signs, once, and checks what comes out.
    ///
    /// - Parameter tail: the path as it was sent, behind the route's own part, without the query.
    /// - Throws: `invalidValue` for what is no text, or could be decoded again, or has a backslash; as ``AssetPath``.
    package static func asset(_ tail: Substring) throws(Failure) -> AssetPath {
        var bytes: [UInt8] = []
        var rest = tail.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit),
                let low = rest.popFirst().flatMap(digit)
            else {
                throw Failure(
                    .invalidValue,
                    "the path has a percent sign without two hexadecimal digits behind it.")
            }
            bytes.append(high << 4 | low)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(
                .invalidValue, "the path is not UTF-8 when its percent signs are decoded.")
        }
        guard !bytes.contains(0), !bytes.contains(UInt8(ascii: "\\")), !isEncoded(bytes) else {
            throw Failure(
                .invalidValue,
                "the path has a NUL, a backslash, or is percent-encoded twice. Encode an asset's name once."
            )
        }
        return try AssetPath(text)
    }

    /// Whether decoding again would change the text.
    private static func isEncoded(_ bytes: [UInt8]) -> Bool {
        bytes.indices.dropLast(2).contains {
            bytes[$0] == UInt8(ascii: "%") && digit(bytes[$0 + 1]) != nil
                && digit(bytes[$0 + 2]) != nil
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
