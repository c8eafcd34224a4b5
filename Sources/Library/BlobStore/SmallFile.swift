import NIOPosix
import SystemPackage

/// Files that settings name. They are read at once, outside the cooperative thread pool.
enum SmallFile {
    /// Returns the text of a file; nil if there is no such file.
    ///
    /// Throws ``BlobError/Code/noCredentials`` if it cannot be read, is longer than `limit` or is
    /// not UTF-8.
    static func read(_ path: String, atMost limit: Int) async throws(BlobError) -> String? {
        let bytes: [UInt8]?
        do {
            bytes = try await NIOThreadPool.singleton.runIfActive { try contents(path, limit) }
        } catch {
            throw BlobError(
                .noCredentials, "The file \(path) cannot be read (\(error)): check permissions.")
        }
        guard let bytes else { return nil }
        guard bytes.count <= limit, let text = String(validating: bytes, as: UTF8.self) else {
            throw BlobError(
                .noCredentials, "The file \(path) is no UTF-8 text of at most \(limit) bytes.")
        }
        return text
    }

    private static func contents(_ path: String, _ limit: Int) throws -> [UInt8]? {
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        } catch Errno.noSuchFileOrDirectory, Errno.notDirectory {
            return nil
        }
        return try file.closeAfter {
            // One byte more than allowed, in order to detect a file that is too long.
            var bytes = [UInt8](repeating: 0, count: limit + 1)
            var count = 0
            while count < bytes.count {
                let read = try bytes.withUnsafeMutableBytes {
                    try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[count...]))
                }
                if read == 0 { break }
                count += read
            }
            return Array(bytes.prefix(count))
        }
    }
}
