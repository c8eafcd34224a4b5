public import Edits
import Glibc
import SystemPackage

/// The SHA-256 of files.
public enum FileDigest {
    /// A chunk stays in the second-level cache between reading, digesting and writing.
    static let chunkBytes = 256 << 10
    /// Larger files are dropped from the page cache, which counts towards the limit of a memory cgroup.
    private static let cachedBytesMax = 32 << 20
    private static let stepBytes = 8 << 20

    /// Reads a file once.
    ///
    /// - Returns: the digest in hex, and the length.
    /// - Throws: `ioFailure`.
    public static func sha256(of path: String) throws(Failure) -> (hex: String, bytes: Int) {
        try sha256(
            of: OpenFile.describing("\(path) cannot be read", OpenFile(opening: path, O_RDONLY)))
    }

    /// Returns the digest in hex of an open file. The file is read only if its digest is not known.
    ///
    /// - Throws: `ioFailure`.
    public static func hex(of file: OpenFile) throws(Failure) -> String {
        if let known = file.sha256 { return known }
        return try sha256(of: file).hex
    }

    /// Reads an open file once, from its beginning on.
    ///
    /// - Returns: the digest in hex, and the length.
    /// - Throws: `ioFailure`.
    public static func sha256(of file: OpenFile) throws(Failure) -> (hex: String, bytes: Int) {
        try sha256(of: file) { (bytes, length) throws(Failure) in
            let end = length + bytes.count
            if end >= cachedBytesMax, end / stepBytes != length / stepBytes {
                posix_fadvise(file.descriptor, 0, end, POSIX_FADV_DONTNEED)
            }
        }
    }

    /// Reads an open file once, from its beginning on, and passes on each part after it was digested.
    ///
    /// - Parameter part: receives the bytes, which are valid during the call, and their offset in the file.
    /// - Returns: the digest in hex, and the length.
    /// - Throws: `ioFailure`, and the errors of `part`.
    static func sha256(
        of file: OpenFile, part: (UnsafeRawBufferPointer, Int) throws(Failure) -> Void
    ) throws(Failure) -> (hex: String, bytes: Int) {
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkBytes, alignment: 64)
        defer { chunk.deallocate() }
        var hash = SHA256()
        var length = 0
        while true {
            let count = try file.read(into: chunk, from: length)
            if count == 0 { break }
            let bytes = UnsafeRawBufferPointer(rebasing: chunk[..<count])
            hash.update(bufferPointer: bytes)
            try part(bytes, length)
            length += count
        }
        return (
            hash.finalize().hex, length
        )
    }
}
