package import Edits

/// The asset that the tail of a request's path names.
package enum TargetPath {
    /// Percent-decodes a path once and validates the result.
    ///
    /// The result is never decoded again, so a name may look like an escape: `%2541.jpg` names `%41.jpg`.
    ///
    /// - Parameter tail: the path behind the route's own part, still percent-encoded, without the query.
    /// - Throws: `invalidValue` if the path has a bare backslash, which some clients take for a slash, or the result is not text; as
    ///   ``AssetPath``.
    package static func asset(_ tail: Substring) throws(Failure) -> AssetPath {
        guard let text = String(tail).percentDecoded else {
            throw Failure(
                .invalidValue,
                "the path has a percent sign without two hexadecimal digits behind it, or is not UTF-8 when it is decoded."
            )
        }
        guard !tail.utf8.contains(UInt8(ascii: "\\")) else {
            throw Failure(
                .invalidValue, "the path has a backslash. In an asset's name it is written %5C.")
        }
        return try AssetPath(text)
    }
}
