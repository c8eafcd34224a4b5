public import Edits
import Glibc
public import SystemPackage

/// The status of an open file.
extension OpenFile {
    /// Returns its length in bytes.
    ///
    /// - Throws: `ioFailure`.
    public func length() throws(Failure) -> Int { Int(try readableStatus().st_size) }

    /// Returns whether it is a regular file, and not a folder, pipe or device.
    ///
    /// - Throws: `ioFailure`.
    public func isRegular() throws(Failure) -> Bool {
        try readableStatus().st_mode & S_IFMT == S_IFREG
    }

    /// Returns a stamp. If a later stamp is equal, the file was not written in between.
    ///
    /// - Parameter getsLinks: whether it may get further hard links in the meantime. Those set its change time, so
    ///   only its modification time is compared, which a writer can set back.
    /// - Throws: `ioFailure`.
    public func stamp(getsLinks: Bool) throws(Failure) -> FileStamp {
        FileStamp(try readableStatus(), getsLinks: getsLinks)
    }

    /// Locks the file exclusively for this process, without waiting. The kernel releases the lock when the file is
    /// closed.
    ///
    /// - Returns: false if another process has the lock.
    /// - Throws: the kernel's error.
    public func lock() throws(Errno) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        let error = Errno.latest
        guard error == .wouldBlock || error == .interrupted else { throw error }
        return false
    }

    /// Returns whether a path leads to this very file, and not through a link: false also if the file was removed
    /// after it was opened.
    ///
    /// On NFS no single property is sufficient. A file that this machine removes while it is open continues to
    /// exist under another name with the same link count. If another machine removes it, this machine may cache the
    /// path for seconds.
    ///
    /// - Throws: the kernel's error.
    public func isAt(_ path: String) throws(Errno) -> Bool {
        let own: stat
        do throws(Errno) {
            own = try status()
        } catch {
            if error == .staleNFSFileHandle { return false }
            throw error
        }
        guard own.st_nlink > 0 else { return false }
        var found = stat()
        guard lstat(path, &found) == 0 else {
            guard errno == ENOENT || errno == ESTALE else { throw .latest }
            return false
        }
        return found.st_dev == own.st_dev && found.st_ino == own.st_ino
    }

    /// Removes all bytes.
    ///
    /// - Throws: the kernel's error.
    public func truncate() throws(Errno) {
        guard ftruncate(descriptor, 0) == 0 else { throw .latest }
    }

    private func readableStatus() throws(Failure) -> stat {
        try Self.describing("\(name) cannot be read", status())
    }

    func status() throws(Errno) -> stat {
        var status = stat()
        try Descriptor.uninterrupted { fstat(descriptor, &status) }
        return status
    }
}
