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
