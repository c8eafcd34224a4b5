public import Edits
import CMinilab
import Glibc
public import SystemPackage

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
        let root = try Self.describing(
            "opening the folder", folder,
            OpenFile(opening: folder.string, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
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
