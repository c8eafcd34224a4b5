public import Adjustments
import CSpool
import Glibc
public import SystemPackage

/// The points in which a file system of the network is not like a disk.
extension FileSystem {
    /// Whether a name is one that NFS gives a file that was removed while a process had it open ("silly rename").
    ///
    /// The file goes when it is closed, or stays when the machine died that had it open. Source: Linux,
    /// `fs/nfs/unlink.c`: `.nfs`, 16 hex digits of the file's number, 8 of a counter.
    public static func isSilly(_ name: String) -> Bool {
        let digits = name.utf8.dropFirst(4)
        return name.hasPrefix(".nfs") && digits.count == 24
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Whether all that is left in a folder are such files, and folders of them; false when it is empty.
    func hasOnlySilly(_ path: FilePath) throws(Failure) -> Bool {
        let names = try list(path)
        for name in names where !Self.isSilly(name) {
            let inside = path.appending(name)
            guard try isFolder(inside), try hasOnlySilly(inside) else { return false }
        }
        return !names.isEmpty
    }

    /// Makes this machine forget what it remembers of a folder that another machine may have changed.
    ///
    /// NFS believes names and links of a folder for up to 60 s (`acdirmax`), and a lock does not change that: without this,
    /// who waited for a lock reads what was there before its last holder. On a disk it costs one call.
    ///
    /// - Throws: `ioFailure`; nothing there is fine.
    public func refresh(_ path: FilePath) throws(Failure) {
        guard minilab_refresh(path.string) != 0, errno != ENOENT, errno != ENOTDIR else { return }
        throw Self.failure("looking at", path)
    }
}
