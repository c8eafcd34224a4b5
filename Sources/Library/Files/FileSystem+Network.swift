public import Edits
import CMinilab
import Glibc
public import SystemPackage

/// The differences between a network file system and a disk.
extension FileSystem {
    /// Returns whether a name is one that NFS gives to a file that was removed while a process had it open ("silly
    /// rename").
    ///
    /// The file is removed when it is closed, or stays if the machine that had it open died. Source: Linux,
    /// `fs/nfs/unlink.c`: `.nfs`, 16 hex digits of the file's number, 8 of a counter.
    public static func isSilly(_ name: String) -> Bool {
        let digits = name.utf8.dropFirst(4)
        return name.hasPrefix(".nfs") && digits.count == 24
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Returns whether a folder contains only such files, and folders of them; false if it is empty.
    func hasOnlySilly(_ path: FilePath) throws(Failure) -> Bool {
        let names = try list(path)
        for name in names where !Self.isSilly(name) {
            let inside = path.appending(name)
            guard try isFolder(inside), try hasOnlySilly(inside) else { return false }
        }
        return !names.isEmpty
    }

    /// Invalidates this machine's cache of a folder that another machine may have changed.
    ///
    /// NFS caches names and links of a folder for up to 60 s (`acdirmax`), and taking a lock does not change that.
    /// Without this call, a process that waited for a lock reads the state before the last holder's changes. On a
    /// disk it costs one call.
    ///
    /// - Throws: `ioFailure`. A missing folder is no error.
    public func refresh(_ path: FilePath) throws(Failure) {
        guard minilab_refresh(path.string) != 0, errno != ENOENT, errno != ENOTDIR else { return }
        throw Self.failure("reading the status of", path)
    }
}
