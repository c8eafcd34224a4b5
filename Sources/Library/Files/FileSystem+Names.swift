public import Edits
import CMinilab
import Glibc
public import SystemPackage

/// Operations on names of files: moving, linking, copying.
extension FileSystem {
    /// Moves a file, folder or link within one file system, atomically.
    public func move(_ from: FilePath, to path: FilePath) throws(Failure) {
        try faults?.reach("move", path)
        guard rename(from.string, path.string) == 0 else {
            throw Self.failure("moving \(from) to", path)
        }
    }

    /// Moves a file to a free name.
    ///
    /// It is one step if the file system supports that (Linux 3.15; not NFS). Otherwise it creates a hard link,
    /// which fails if the name is taken, and then removes the old name. A crash in between leaves both names; the
    /// next call detects that.
    ///
    /// - Throws: `ioFailure` if the name is taken by another file. Both files are then unchanged.
    public func moveToFreeName(_ from: FilePath, to path: FilePath) throws(Failure) {
        try faults?.reach("moveToFreeName", path)
        if minilab_rename_free(from.string, path.string) == 0 { return }
        guard Glibc.link(from.string, path.string) != 0 else { return try remove(from) }
        let error = Errno.latest
        switch error.rawValue {
        case EEXIST where isSameFile(from, path): try remove(from)
        case EPERM, EOPNOTSUPP, EMLINK:
            // Memory cards (FAT) do not support links.
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

    /// Creates a hard link to a file. If the file system has no hard links, copies the file.
    public func link(_ source: FilePath, at path: FilePath) throws(Failure) {
        try faults?.reach("link", path)
        if Glibc.link(source.string, path.string) == 0 { return }
        switch errno {
        case EPERM, EOPNOTSUPP, EMLINK, EXDEV: try copy(OpenFile(reading: source.string), to: path)
        default: throw Self.failure("linking \(source) to", path)
        }
    }

    /// Copies a file to a new one and syncs it.
    public func copy(_ source: OpenFile, to path: FilePath) throws(Failure) {
        try faults?.reach("copy", path)
        try FileCopy.copy(source, toNew: path.string)
        try sync(path)
    }

    /// Creates a symbolic link.
    public func point(_ path: FilePath, to target: String) throws(Failure) {
        try faults?.reach("point", path)
        guard symlink(target, path.string) == 0 else {
            throw Self.failure("making the link", path)
        }
    }
}
