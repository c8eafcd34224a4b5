public import Adjustments
import Glibc
public import SystemPackage

/// The status of an open file.
extension OpenFile {
    /// Its length in bytes.
    ///
    /// - Throws: `ioFailure`.
    public func length() throws(Failure) -> Int { Int(try readableStatus().st_size) }

    /// Whether it is a file, and not a folder, pipe or device.
    ///
    /// - Throws: `ioFailure`.
    public func isRegular() throws(Failure) -> Bool {
        try readableStatus().st_mode & S_IFMT == S_IFREG
    }

    /// Tells, compared with a later one, that the file was not written to.
    ///
    /// - Parameter getsLinks: whether it may get further hard links meanwhile. Those set its time of change, so only its
    ///   time of writing is looked at, which whoever writes can set back.
    /// - Throws: `ioFailure`.
    public func stamp(getsLinks: Bool) throws(Failure) -> FileStamp {
        FileStamp(try readableStatus(), getsLinks: getsLinks)
    }

    /// Locks it for this process alone; does not wait. The kernel frees it when the file is closed.
    ///
    /// - Returns: false when somebody else has the lock.
    /// - Throws: the kernel's error.
    public func lock() throws(Errno) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        let error = Errno.latest
        guard error == .wouldBlock || error == .interrupted else { throw error }
        return false
    }

    /// Whether a path leads to this very file, and not by a link: false also when it was removed after it was opened.
    ///
    /// On NFS no single sign tells. A file that this machine removes while it is open lives on under another name and keeps
    /// its count; of one that another machine removes, the path may be remembered for seconds.
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
        try Self.saying("\(name) cannot be read", status())
    }

    func status() throws(Errno) -> stat {
        var status = stat()
        try Descriptor.uninterrupted { fstat(descriptor, &status) }
        return status
    }
}
