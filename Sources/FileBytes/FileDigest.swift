public import Adjustments
import Crypto
import Glibc

/// SHA-256 of files.
public enum FileDigest {
    private static let chunkBytes = 1 << 18
    /// What is larger does not stay in the page cache, for which a memory cgroup has to pay.
    private static let cachedBytesMax = 32 << 20
    private static let stepBytes = 8 << 20

    /// Reads a file once.
    ///
    /// - Returns: the digest in hex, and the length.
    /// - Throws: `ioFailure`.
    public static func sha256(of path: String) throws(Failure) -> (hex: String, bytes: Int) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        return try sha256(of: descriptor, called: path)
    }

    /// Reads an open file once, from where it stands.
    ///
    /// - Parameter path: what a failure calls it.
    /// - Returns: the digest in hex, and the length.
    /// - Throws: `ioFailure`.
    public static func sha256(
        of descriptor: CInt, called path: String
    ) throws(Failure) -> (hex: String, bytes: Int) {
        var hash = SHA256()
        var length = 0
        var buffer = [UInt8](repeating: 0, count: chunkBytes)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path) }
            if count == 0 { break }
            buffer.withUnsafeBytes { hash.update(bufferPointer: .init(rebasing: $0[..<count])) }
            length += count
            if length >= cachedBytesMax, length / stepBytes != (length - count) / stepBytes {
                posix_fadvise(descriptor, 0, length, POSIX_FADV_DONTNEED)
            }
        }
        let hex = hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return (hex, length)
    }

    private static func failure(_ path: String) -> Failure {
        Failure(.ioFailure, "\(path) cannot be read: \(String(cString: strerror(errno))).")
    }
}
