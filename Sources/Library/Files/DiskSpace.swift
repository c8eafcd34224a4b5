public import Edits
import Glibc
public import SystemPackage

/// The space of a file system, as available to this user.
public struct DiskSpace: Sendable, Equatable {
    /// The number of free bytes.
    public let free: Int
    /// The total number of bytes.
    public let total: Int

    private init(_ status: statvfs) {
        let unit = Int(clamping: status.f_frsize)
        func bytes(_ blocks: fsblkcnt_t) -> Int {
            let (bytes, isTooMany) = Int(clamping: blocks).multipliedReportingOverflow(by: unit)
            return isTooMany ? .max : bytes
        }
        (free, total) = (bytes(status.f_bavail), bytes(status.f_blocks))
    }

    /// Reads the space of the file system with an open file.
    ///
    /// - Throws: `ioFailure`.
    public init(of file: OpenFile) throws(Failure) {
        var status = statvfs()
        guard fstatvfs(file.descriptor, &status) == 0 else {
            throw FileSystem.failure("asking for the free space at", FilePath(file.name))
        }
        self.init(status)
    }

    /// Reads the space of the file system with a folder.
    ///
    /// - Throws: `ioFailure`.
    public init(at folder: FilePath) throws(Failure) {
        var status = statvfs()
        guard statvfs(folder.string, &status) == 0 else {
            throw FileSystem.failure("asking for the free space at", folder)
        }
        self.init(status)
    }
}
