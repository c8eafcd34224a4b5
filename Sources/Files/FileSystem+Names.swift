public import Adjustments
import CSpool
import Glibc
public import SystemPackage

/// Names of files: moved, added, copied.
extension FileSystem {
    /// Moves a file, folder or link within one file system, atomically.
    public func move(_ from: FilePath, to path: FilePath) throws(Failure) {
        try faults?.reach("move", path)
        guard rename(from.string, path.string) == 0 else {
            throw Self.failure("moving \(from) to", path)
        }
    }

    /// Moves a file to a name that nothing has.
    ///
    /// One step, where the file system has it (Linux 3.15; NFS has not). Else a link that must not be there yet, then the
    /// old name goes: a crash between leaves both, which the next call takes for what it is.
    ///
    /// - Throws: `ioFailure` when something else has the name; both stay as they are.
    public func moveToFreeName(_ from: FilePath, to path: FilePath) throws(Failure) {
        try faults?.reach("moveToFreeName", path)
        if minilab_rename_free(from.string, path.string) == 0 { return }
        guard Glibc.link(from.string, path.string) != 0 else { return try remove(from) }
        let error = Errno.latest
        switch error.rawValue {
        case EEXIST where isSameFile(from, path): try remove(from)
        case EPERM, EOPNOTSUPP, EMLINK:
            // Memory cards (FAT) know no links.
            if try exists(path) { throw Self.failure("moving \(from) to", path, .fileExists) }
            try move(from, to: path)
        default: throw Self.failure("moving \(from) to", path, error)
        }
    }

    private func isSameFile(_ one: FilePath, _ other: FilePath) -> Bool {
        var (first, second) = (stat(), stat())
        return lstat(one.string, &first) == 0 && lstat(other.string, &second) == 0
            && first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Gives a file a second name; where the file system has no hard links, copies it.
    public func link(_ source: FilePath, at path: FilePath) throws(Failure) {
        try faults?.reach("link", path)
        if Glibc.link(source.string, path.string) == 0 { return }
        switch errno {
        case EPERM, EOPNOTSUPP, EMLINK, EXDEV: try copy(OpenFile(reading: source.string), to: path)
        default: throw Self.failure("linking \(source) to", path)
        }
    }

    /// Copies a file to a new one and fsyncs that.
    public func copy(_ source: OpenFile, to path: FilePath) throws(Failure) {
        try faults?.reach("copy", path)
        try FileCopy.copy(source, toNew: path.string)
        try sync(path)
    }

    /// Makes a symbolic link.
    public func point(_ path: FilePath, to target: String) throws(Failure) {
        try faults?.reach("point", path)
        guard symlink(target, path.string) == 0 else {
            throw Self.failure("making the link", path)
        }
    }
}
