public import Adjustments
import Crypto
import Glibc

/// Copies files as they are.
public enum FileCopy {
    /// Stays in the second-level cache between reading, digesting and writing.
    private static let chunkBytes = 256 << 10

    /// Copies all bytes of a file to another one, from its first byte on, and digests what was copied.
    ///
    /// The digest is of the bytes that were written, whatever becomes of the source meanwhile.
    ///
    /// - Parameters:
    ///   - bytesMax: a longer source is an `ioFailure`: it is not read to its end.
    /// - Returns: the digest in hex, and the length.
    /// - Throws: `ioFailure`, `noSpace`; what is written then is not the whole file.
    @discardableResult
    public static func copy(
        _ source: OpenFile, to target: OpenFile, bytesMax: Int = .max
    ) throws(Failure) -> (hex: String, bytes: Int) {
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkBytes, alignment: 64)
        defer { chunk.deallocate() }
        var hash = SHA256()
        var length = 0
        while true {
            let count = try source.read(into: chunk, from: length)
            if count == 0 { return (FileDigest.hex(hash.finalize()), length) }
            guard length + count <= bytesMax else {
                throw Failure(
                    .ioFailure,
                    "\(source.name) has more than the \(bytesMax) bytes that it may have.")
            }
            let bytes = UnsafeRawBufferPointer(rebasing: chunk[..<count])
            hash.update(bufferPointer: bytes)
            try target.write(bytes, at: length)
            length += count
        }
    }

    /// Copies all bytes of a file to a new one.
    ///
    /// - Throws: `ioFailure`, `noSpace`; what is written then is not the whole file.
    @discardableResult
    public static func copy(
        _ source: OpenFile, toNew path: String, bytesMax: Int = .max
    ) throws(Failure) -> (hex: String, bytes: Int) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw OpenFile.failure("\(path) cannot be written") }
        return try copy(
            source, to: OpenFile(adopting: descriptor, name: path), bytesMax: bytesMax)
    }
}
