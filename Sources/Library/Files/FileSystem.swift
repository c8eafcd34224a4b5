import CMinilab
public import Edits
import Glibc
public import SystemPackage

/// The calls that change a tree of files. Their failures have messages that name the path.
///
/// They block; call them outside Swift's cooperative threads.
public struct FileSystem: Sendable {
    /// The point at which a test simulates a crash; nil outside tests.
    public let faults: FaultInjection?

    /// A file without which no folder is made, because the disk that has it is not mounted then; nil: none.
    let anchor: FilePath?

    /// The most bytes of a file's name (Linux' NAME_MAX).
    public static let nameBytesMax = 255

    /// Creates the calls for a program, or for a test that simulates a crash between two of them.
    ///
    /// - Parameter anchor: a file without which no folder is made; nil: none.
    public init(faults: FaultInjection? = nil, anchor: FilePath? = nil) {
        (self.faults, self.anchor) = (faults, anchor)
    }

    /// Refuses to make a folder where a disk is not mounted: what is made in its mount point is found by nobody.
    ///
    /// - Throws: `storeUnavailable`.
    func checkAnchor() throws(Failure) {
        guard let anchor, access(anchor.string, F_OK) != 0 else { return }
        throw Failure(
            .storeUnavailable,
            "\(anchor) cannot be found (\(Errno.latest)), so nothing is made beside it. Is its disk mounted?"
        )
    }

    /// Returns the failure for the kernel's error. A full disk and a name that is too long have codes of their own.
    public static func failure(
        _ what: String, _ path: FilePath, _ error: Errno = .latest
    ) -> Failure {
        if error == .fileNameTooLong {
            return Failure(
                .invalidValue,
                "\(what) \(path) failed: the name is too long. A file's name may have "
                    + "\(nameBytesMax) bytes; give the original a shorter one.")
        }
        let full = error == .noSpace || error.rawValue == EDQUOT
        return Failure(
            full ? .noSpace : .ioFailure,
            "\(what) \(path) failed: \(error)."
                + (full ? " Free some space; the job is retried." : ""))
    }

    /// Returns the result of a call, or throws the failure for its error.
    public static func describing<Result>(
        _ what: @autoclosure () -> String, _ path: FilePath,
        _ call: @autoclosure () throws(Errno) -> Result
    ) throws(Failure) -> Result {
        do throws(Errno) { return try call() } catch { throw failure(what(), path, error) }
    }

    /// Opens a path of any kind.
    ///
    /// - Parameters:
    ///   - flags: the flags of open(2).
    ///   - what: the purpose, as the beginning of the failure's sentence.
    /// - Throws: `ioFailure`, `noSpace`, `invalidValue` for a name that is too long.
    public static func open(
        _ path: FilePath, _ flags: Int32, _ what: String = "opening", name: String? = nil
    ) throws(Failure) -> OpenFile {
        try describing(what, path, OpenFile(opening: path.string, flags, name: name))
    }

    /// The outcome of an attempt to lock a file.
    public enum Lock: Sendable {
        /// This process holds the lock until the file is closed.
        case ours(OpenFile)
        /// Another process holds it.
        case others(OpenFile)
        /// The file does not exist, or it was removed or moved while it was being opened.
        case none
    }

    /// Opens and locks a file, without waiting.
    ///
    /// - Parameter flags: the flags of open(2).
    public static func lock(_ path: FilePath, _ flags: Int32) throws(Failure) -> Lock {
        let file: OpenFile
        do throws(Errno) {
            file = try OpenFile(opening: path.string, flags)
        } catch {
            if error == .noSuchFileOrDirectory { return .none }
            throw failure("opening", path, error)
        }
        guard try describing("locking", path, file.lock()) else { return .others(file) }
        return try describing("reading the status of", path, file.isAt(path.string))
            ? .ours(file) : .none
    }

    /// Creates a folder and the missing folders above it.
    ///
    /// - Returns: whether the folder was created.
    /// - Throws: `storeUnavailable` if the anchor is missing; `ioFailure`, `noSpace`.
    @discardableResult
    public func makeFolder(_ path: FilePath) throws(Failure) -> Bool {
        try faults?.reach("makeFolder", path)
        try checkAnchor()
        if mkdir(path.string, 0o777) == 0 { return true }
        if errno == EEXIST { return false }
        guard errno == ENOENT, !path.removingLastComponent().isEmpty else {
            throw Self.failure("making the folder", path)
        }
        try makeFolder(path.removingLastComponent())
        guard mkdir(path.string, 0o777) == 0 || errno == EEXIST else {
            throw Self.failure("making the folder", path)
        }
        return true
    }

    /// Writes a new file and syncs it.
    public func write(_ bytes: some Collection<UInt8>, to path: FilePath) throws(Failure) {
        try faults?.reach("write", path)
        let file = try Self.open(path, O_WRONLY | O_CREAT | O_EXCL, "making the file")
        try Self.describing(
            "writing to", path, Descriptor.write(file.descriptor, Array(bytes), at: 0))
        try Self.describing("syncing", path, Descriptor.sync(file.descriptor))
    }

    /// Makes the content of a file or folder durable, so that it survives a power cut.
    public func sync(_ path: FilePath) throws(Failure) {
        try faults?.reach("sync", path)
        let file = try Self.open(path, O_RDONLY)
        try Self.describing("syncing", path, Descriptor.sync(file.descriptor))
    }

    /// Removes a file, a link, or a folder with its content. If nothing exists at the path, the call succeeds.
    ///
    /// A file that NFS keeps for a process of this machine stays, with the folders that contain it, until that
    /// process closes it. The next call for the same path removes those folders.
    public func remove(_ path: FilePath) throws(Failure) {
        try faults?.reach("remove", path)
        var info = stat()
        guard lstat(path.string, &info) == 0 else {
            if errno == ENOENT { return }
            throw Self.failure("reading the status of", path)
        }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            if unlink(path.string) == 0 || errno == ENOENT { return }
            if errno == EBUSY, path.lastComponent.map({ Self.isSilly($0.string) }) == true {
                return
            }
            throw Self.failure("removing", path)
        }
        for name in try list(path) { try remove(path.appending(name)) }
        guard rmdir(path.string) != 0, errno != ENOENT else { return }
        let error = Errno.latest
        guard error == .directoryNotEmpty, try hasOnlySilly(path) else {
            throw Self.failure("removing", path, error)
        }
    }
}

/// Calls on files whose names were read from a file: they never leave the given folder.
///
/// The kernel resolves the name (`openat2`, Linux 5.6). It refuses names that lead out of the folder by `..`, an
/// absolute path or any symbolic link, also if the path is changed between check and use.
extension FileSystem {
    /// Opens a file of a folder for reading.
    ///
    /// - Parameters:
    ///   - name: the path of the file in the folder.
    ///   - changed: the code for a name that leads out of the folder or through a link.
    /// - Throws: `damagedVersion` or that code; `ioFailure`.
    public func openFile(
        _ name: String, in folder: FilePath, changed: FailureCode = .damagedVersion
    ) throws(Failure) -> OpenFile {
        let path = folder.pushing(FilePath(name))
        let root = try Self.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, "opening the folder")
        let file: OpenFile
        do throws(Errno) {
            // A pipe of this name must not block the call; for files the flag has no effect.
            let descriptor = try Descriptor.uninterrupted {
                minilab_open_beneath(
                    root.descriptor, name, UInt64(O_RDONLY | O_NONBLOCK),
                    UInt64(RESOLVE_NO_SYMLINKS))
            }
            file = OpenFile(adopting: descriptor, name: path.string)
        } catch {
            guard [EXDEV, ELOOP].contains(error.rawValue) else {
                throw Self.failure("opening", path, error)
            }
            throw Failure(
                changed,
                "the file \(name.debugDescription) of \(folder) is a symbolic link or leads out of that folder, "
                    + "where a plain file is expected. Another program put it there; restore the file from a backup."
            )
        }
        guard try file.isRegular() else {
            throw Failure(changed, "\(path) is no file any more. Restore it from a backup.")
        }
        return file
    }

    /// Returns all bytes of a file of a folder, which must not have more than `bytesMax`.
    ///
    /// - Parameter oversized: the code for a longer file.
    public func read(
        _ name: String, in folder: FilePath, bytesMax: Int, oversized: FailureCode = .ioFailure
    ) throws(Failure) -> [UInt8] {
        try read(openFile(name, in: folder), bytesMax: bytesMax, oversized: oversized)
    }

    /// Returns the SHA-256 and length of a file of a folder.
    public func digest(
        of name: String, in folder: FilePath
    ) throws(Failure) -> (hex: String, bytes: Int) {
        try FileDigest.sha256(of: openFile(name, in: folder))
    }

}

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

/// Operations in open folders: files that are created in one stay in it, even if its path changes.
extension FileSystem {
    /// Opens a folder below another one.
    ///
    /// - Parameters:
    ///   - names: the names of the folders, the uppermost first.
    ///   - changed: the code for a folder that is a symbolic link.
    ///   - isMade: whether missing folders on the path are created and synced.
    /// - Returns: nil if it is missing and not made.
    /// - Throws: that code; `invalidValue` for a name that is a file; `storeUnavailable` if the anchor is missing;
    ///   `ioFailure`, `noSpace`.
    package func openFolder(
        _ names: [String], in root: FilePath, changed: FailureCode, isMade: Bool
    ) throws(Failure) -> OpenFile? {
        if isMade { try checkAnchor() }
        var path = root
        var folder = try Self.open(root, O_RDONLY | O_DIRECTORY, "opening the folder")
        for name in names {
            path.append(FilePath.Component(name) ?? ".")
            try faults?.reach("openFolder", path)
            if isMade {
                if mkdirat(folder.descriptor, name, 0o777) == 0 {
                    try Self.describing("syncing", path, Descriptor.sync(folder.descriptor))
                } else if errno != EEXIST {
                    throw Self.failure("making the folder", path)
                }
            }
            let next: Int32
            do throws(Errno) {
                next = try Descriptor.uninterrupted {
                    minilab_open_beneath(
                        folder.descriptor, name, UInt64(O_RDONLY | O_DIRECTORY),
                        UInt64(RESOLVE_NO_SYMLINKS))
                }
            } catch {
                switch error.rawValue {
                case ENOENT where !isMade: return nil
                case ELOOP, EXDEV:
                    throw Failure(
                        changed,
                        "\(path) is a symbolic link, where a folder is expected. Put the folder itself there."
                    )
                case ENOTDIR:
                    throw Failure(
                        .invalidValue,
                        "\(path) is a file, so nothing can be put below it. Choose another name.")
                default: throw Self.failure("opening the folder", path, error)
                }
            }
            folder = OpenFile(adopting: next, name: path.string)
        }
        return folder
    }

    /// Moves a file to a free name in an open folder, and syncs the folder.
    ///
    /// - Returns: false if the name is taken. Both files are then unchanged.
    /// - Throws: `ioFailure`, `noSpace`.
    package func moveToFreeName(
        _ from: FilePath, to name: String, in folder: OpenFile
    ) throws(Failure) -> Bool {
        let path = FilePath(folder.name).appending(name)
        try faults?.reach("moveToFreeName", path)
        if minilab_rename_free_into(from.string, folder.descriptor, name) != 0 {
            guard errno != EEXIST else { return false }
            // NFS does not support it: create a hard link, which fails if the name is taken, and remove the old
            // name.
            guard errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP else {
                throw Self.failure("moving \(from) to", path)
            }
            guard linkat(AT_FDCWD, from.string, folder.descriptor, name, 0) == 0 else {
                if errno == EEXIST { return false }
                throw Self.failure("moving \(from) to", path)
            }
            try remove(from)
        }
        try faults?.reach("sync", path)
        try Self.describing("syncing", path, Descriptor.sync(folder.descriptor))
        return true
    }

    /// Returns whether a name in an open folder is a regular file; nil if the name is free.
    ///
    /// - Throws: `ioFailure`.
    package func isFile(_ name: String, in folder: OpenFile) throws(Failure) -> Bool? {
        var info = stat()
        guard fstatat(folder.descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw Self.failure("reading the status of", FilePath(folder.name).appending(name))
        }
        return info.st_mode & S_IFMT == S_IFREG
    }

    /// Reserves the space of a file if the file system can, so that a lack of space is reported immediately.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    package func reserve(_ bytes: Range<Int>, for file: OpenFile) throws(Failure) {
        guard !bytes.isEmpty,
            minilab_allocate(file.descriptor, Int64(bytes.lowerBound), Int64(bytes.count)) != 0
        else { return }
        guard errno != EOPNOTSUPP, errno != ENOSYS, errno != EINVAL else { return }
        throw Self.failure("reserving the space for", FilePath(file.name))
    }
}
