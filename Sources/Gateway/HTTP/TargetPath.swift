package import Adjustments

/// The asset that the tail of a request's path names.
package enum TargetPath {
    /// Percent-decodes a path once and validates the result.
    ///
    /// - Parameter tail: the path behind the route's own part, still percent-encoded, without the query.
    /// - Throws: `invalidValue` if the result is not text, could be decoded again or has a backslash; as ``AssetPath``.
    package static func asset(_ tail: Substring) throws(Failure) -> AssetPath {
        guard let text = String(tail).percentDecoded else {
            throw Failure(
                .invalidValue,
                "the path has a percent sign without two hexadecimal digits behind it, or is not UTF-8 when it is decoded."
            )
        }
        let bytes = Array(text.utf8)
        guard !bytes.contains(0), !bytes.contains(UInt8(ascii: "\\")), !isEncoded(bytes) else {
            throw Failure(
                .invalidValue,
                "the path has a NUL, a backslash, or is percent-encoded twice. Encode an asset's name once."
            )
        }
        return try AssetPath(text)
    }

    /// Returns whether decoding again would change the text.
    private static func isEncoded(_ bytes: [UInt8]) -> Bool {
        bytes.indices.dropLast(2).contains {
            bytes[$0] == UInt8(ascii: "%") && isDigit(bytes[$0 + 1]) && isDigit(bytes[$0 + 2])
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        Unicode.Scalar(byte).properties.isASCIIHexDigit
    }
}
