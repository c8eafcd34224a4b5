package import Edits
import CMinilab
import Glibc
package import SystemPackage

/// Operations in open folders: files that are created in one stay in it, even if its path changes.
extension FileSystem {
    /// Opens a folder below another one, and creates and syncs the missing folders on the path.
    ///
    /// - Parameters:
    ///   - names: the names of the folders, the uppermost first.
    ///   - changed: the code for a folder that is a symbolic link.
    /// - Throws: that code; `invalidValue` for a name that is a file; `storeUnavailable` if the anchor is missing;
    ///   `ioFailure`, `noSpace`.
    package func openFolder(
        _ names: [String], in root: FilePath, changed: FailureCode
    ) throws(Failure) -> OpenFile {
        guard let folder = try folder(names, in: root, changed: changed, isMade: true) else {
            throw Self.failure("opening the folder", root.appending(names.joined(separator: "/")))
        }
        return folder
    }

    /// Opens a folder below another one; nil if it, or one above it, is missing.
    ///
    /// - Throws: the same as ``openFolder(_:in:changed:)``.
    package func openPresentFolder(
        _ names: [String], in root: FilePath, changed: FailureCode
    ) throws(Failure) -> OpenFile? {
        try folder(names, in: root, changed: changed, isMade: false)
    }

    private func folder(
        _ names: [String], in root: FilePath, changed: FailureCode, isMade: Bool
    ) throws(Failure) -> OpenFile? {
        if isMade { try checkAnchor() }
        var path = root
        var folder = try Self.describing(
            "opening the folder", root, OpenFile(opening: root.string, O_RDONLY | O_DIRECTORY))
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
