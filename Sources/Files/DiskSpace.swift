public import Adjustments
import Glibc
public import SystemPackage

/// The bytes of a file system, as this user may use them.
public struct DiskSpace: Sendable, Equatable {
    /// The bytes that are free.
    public let free: Int
    /// All bytes.
    public let total: Int

    private init(_ status: statvfs) {
        let unit = Int(clamping: status.f_frsize)
        func bytes(_ blocks: fsblkcnt_t) -> Int {
            let (bytes, isTooMany) = Int(clamping: blocks).multipliedReportingOverflow(by: unit)
            return isTooMany ? .max : bytes
        }
        (free, total) = (bytes(status.f_bavail), bytes(status.f_blocks))
    }

    /// The space of the file system that has an open file.
    ///
    /// - Throws: `ioFailure`.
    public init(of file: OpenFile) throws(Failure) {
        var status = statvfs()
        guard fstatvfs(file.descriptor, &status) == 0 else {
            throw FileSystem.failure("asking for the free space at", FilePath(file.name))
        }
        self.init(status)
    }

    /// The space of the file system that has a folder.
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
