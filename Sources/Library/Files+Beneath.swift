import Adjustments
import CSpool
import Files
import Glibc
import SystemPackage

/// Calls on files whose names were read from a file: they never leave the folder that they are said to be in.
///
/// The kernel resolves the name (`openat2`, Linux 5.6): what leads out of the folder by `..`, an absolute path or any
/// symbolic link is refused, also when somebody changes it between check and use.
extension Files {
    /// Opens a file of a folder for reading.
    ///
    /// - Parameters:
    ///   - name: its path in the folder.
    ///   - changed: the code for one that leads out of the folder or through a link.
    /// - Throws: `damagedVersion` or that code; `ioFailure`.
    func openFile(
        _ name: String, in folder: FilePath, changed: FailureCode = .damagedVersion
    ) throws(Failure) -> OpenFile {
        let root = Glibc.open(folder.string, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard root >= 0 else { throw Self.failure("opening the folder", folder) }
        defer { close(root) }
        // A pipe that somebody put there must not stop us; on files it changes nothing.
        let file = minilab_open_beneath(
            root, name, UInt64(O_RDONLY | O_NONBLOCK), UInt64(RESOLVE_NO_SYMLINKS))
        guard file >= 0 else {
            let code = errno
            guard code == EXDEV || code == ELOOP else {
                throw Self.failure("opening", folder.pushing(FilePath(name)), code)
            }
            throw Failure(
                changed,
                "the file \(name.debugDescription) of \(folder) is a symbolic link or leads out of that folder, "
                    + "where a plain file is expected. Somebody else put it there; restore the file from a backup."
            )
        }
        let opened = OpenFile(adopting: file, name: folder.pushing(FilePath(name)).string)
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(changed, "\(opened.name) is no file any more. Restore it from a backup.")
        }
        return opened
    }

    /// All bytes of a file of a folder, which must not have more than `bytesMax`.
    ///
    /// - Parameter oversized: the code for a file that has more.
    func read(
        _ name: String, in folder: FilePath, bytesMax: Int, oversized: FailureCode = .ioFailure
    ) throws(Failure) -> [UInt8] {
        let file = try openFile(name, in: folder)
        return try read(
            file.descriptor, folder.pushing(FilePath(name)), bytesMax: bytesMax,
            oversized: oversized)
    }

    /// SHA-256 and length of a file of a folder.
    func digest(
        of name: String, in folder: FilePath
    ) throws(Failure) -> (hex: String, bytes: Int) {
        try FileDigest.sha256(of: openFile(name, in: folder))
    }

    /// Copies a file of a folder and fsyncs the copy.
    func copy(_ name: String, in folder: FilePath, to path: FilePath) throws(Failure) {
        try faults?.reach("copy", path)
        try FileCopy.copy(openFile(name, in: folder), toNew: path.string)
        try sync(path)
    }
}
