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
            dropRead(file, length..<length + bytes.count)
        }
    }

    /// Reads an open file once, as ``sha256(of:)`` does, by calls on threads for blocking ones.
    ///
    /// Between two of them other calls come to their turn: there are as many threads as cores, and 4 GB in one call keep one for 10 s.
    ///
    /// - Throws: `ioFailure`.
    public static func digest(
        of file: OpenFile
    ) async throws(Failure) -> (hex: String, bytes: Int) {
        var (hash, length, isEnd) = (SHA256(), 0, false)
        while !isEnd {
            let before = (hash, length)
            (hash, length, isEnd) = try await offPool {
                () throws(Failure) -> (SHA256, Int, Bool) in
                var (hash, length) = before
                let end = length + stepBytes
                let isEnd = try read(file, into: &hash, from: &length, upTo: end) {
                    (bytes, length) throws(Failure) in
                    dropRead(file, length..<length + bytes.count)
                }
                return (hash, length, isEnd)
            }
        }
        return (hash.finalize().hex, length)
    }

    /// Drops what was read of a large file from the page cache, now and then.
    private static func dropRead(_ file: OpenFile, _ read: Range<Int>) {
        let end = read.upperBound
        guard end >= cachedBytesMax, end / stepBytes != read.lowerBound / stepBytes else { return }
        posix_fadvise(file.descriptor, 0, end, POSIX_FADV_DONTNEED)
    }

    /// Reads an open file once, from its beginning on, and passes on each part after it was digested.
    ///
    /// - Parameter part: receives the bytes, which are valid during the call, and their offset in the file.
    /// - Returns: the digest in hex, and the length.
    /// - Throws: `ioFailure`, and the errors of `part`.
    static func sha256(
        of file: OpenFile, part: (UnsafeRawBufferPointer, Int) throws(Failure) -> Void
    ) throws(Failure) -> (hex: String, bytes: Int) {
        var (hash, length) = (SHA256(), 0)
        _ = try read(file, into: &hash, from: &length, upTo: .max, part: part)
        return (hash.finalize().hex, length)
    }

    /// Digests a file from a place on.
    ///
    /// - Parameters:
    ///   - length: the bytes that were digested before; then those that are.
    ///   - end: no part begins behind it.
    /// - Returns: whether the file has no more bytes.
    private static func read(
        _ file: OpenFile, into hash: inout SHA256, from length: inout Int, upTo end: Int,
        part: (UnsafeRawBufferPointer, Int) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkBytes, alignment: 64)
        defer { chunk.deallocate() }
        while length < end {
            let count = try file.read(into: chunk, from: length)
            if count == 0 { return true }
            let bytes = UnsafeRawBufferPointer(rebasing: chunk[..<count])
            hash.update(bufferPointer: bytes)
            try part(bytes, length)
            length += count
        }
        return false
    }
}
