public import Adjustments
import Crypto
import Glibc

/// SHA-256 of files.
public enum FileDigest {
    private static let chunkBytes = 1 << 18
    /// A larger file does not stay in the page cache, for which a memory cgroup has to pay.
    private static let cachedBytesMax = 32 << 20
    private static let stepBytes = 8 << 20

    /// Reads a file once.
    ///
    /// - Returns: the digest in hex, and the length.
    /// - Throws: `ioFailure`.
    public static func sha256(of path: String) throws(Failure) -> (hex: String, bytes: Int) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw OpenFile.failure("\(path) cannot be read") }
        return try sha256(of: OpenFile(adopting: descriptor, name: path))
    }

    /// Reads an open file once, from its first byte on.
    ///
    /// - Returns: the digest in hex, and the length.
    /// - Throws: `ioFailure`.
    public static func sha256(of file: OpenFile) throws(Failure) -> (hex: String, bytes: Int) {
        var hash = SHA256()
        var length = 0
        var buffer = [UInt8](repeating: 0, count: chunkBytes)
        while true {
            let count = buffer.withUnsafeMutableBytes {
                pread(file.descriptor, $0.baseAddress, $0.count, length)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw OpenFile.failure("\(file.name) cannot be read") }
            if count == 0 { break }
            buffer.withUnsafeBytes { hash.update(bufferPointer: .init(rebasing: $0[..<count])) }
            length += count
            if length >= cachedBytesMax, length / stepBytes != (length - count) / stepBytes {
                posix_fadvise(file.descriptor, 0, length, POSIX_FADV_DONTNEED)
            }
        }
        return (hex(hash.finalize()), length)
    }

    static func hex(_ digest: SHA256.Digest) -> String {
        digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
