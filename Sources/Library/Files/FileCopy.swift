public import Edits
import Glibc
import SystemPackage

/// Copies files unchanged.
public enum FileCopy {
    /// Copies all bytes of a file to another one, from its beginning on, and computes their digest.
    ///
    /// The digest is of the written bytes, also if the source changes during the copy.
    ///
    /// - Parameters:
    ///   - bytesMax: the largest length. A longer source is an `ioFailure` and is not read to its end.
    /// - Returns: the digest in hex, and the length.
    /// - Throws: `ioFailure`, `noSpace`. The target is then incomplete.
    @discardableResult
    public static func copy(
        _ source: OpenFile, to target: OpenFile, bytesMax: Int = .max
    ) throws(Failure) -> (hex: String, bytes: Int) {
        try FileDigest.sha256(of: source) { (bytes, length) throws(Failure) in
            guard length + bytes.count <= bytesMax else {
                throw Failure(
                    .ioFailure,
                    "\(source.name) has more than the \(bytesMax) bytes that it may have.")
            }
            try target.write(bytes, at: length)
        }
    }

    /// Copies all bytes of a file to a new one.
    ///
    /// - Throws: `ioFailure`, `noSpace`. The new file is then incomplete.
    @discardableResult
    public static func copy(
        _ source: OpenFile, toNew path: String, bytesMax: Int = .max
    ) throws(Failure) -> (hex: String, bytes: Int) {
        let target = try OpenFile.describing(
            "\(path) cannot be written", OpenFile(opening: path, O_WRONLY | O_CREAT | O_EXCL))
        return try copy(source, to: target, bytesMax: bytesMax)
    }
}
