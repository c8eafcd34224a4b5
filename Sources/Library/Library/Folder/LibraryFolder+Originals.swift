public import Edits
public import Files
import Glibc
public import SystemPackage

extension LibraryFolder {
    /// Opens an asset's original.
    ///
    /// Links are resolved first, as by ``original(of:)``. Then the kernel opens the resolved path and refuses any
    /// link that was inserted into it in the meantime.
    ///
    /// - Throws: the failures of ``original(of:)``. The name of the opened file is its path.
    public func openOriginal(of asset: AssetPath) throws(Failure) -> OpenFile {
        var path = try original(of: asset)
        _ = path.removePrefix(originals)
        let file = try files.openFile(path.string, in: originals, changed: .assetOutsideLibrary)
        noteOriginals()
        return file
    }

    /// Opens a file of a version.
    ///
    /// - Parameter name: its path in the version's folder.
    /// - Throws: `damagedVersion` if the path leads out of the folder or through a link; `ioFailure`.
    public func openFile(_ name: String, in folder: FilePath) throws(Failure) -> OpenFile {
        try files.openFile(name, in: folder)
    }

    /// Returns the file of an asset's original, with symbolic links resolved.
    ///
    /// A link may lead to what is below the folder that has it, and no further: see ``check(_:leadsNoFurtherThanItsFolder:_:)``.
    ///
    /// - Throws: `missingAsset`, `assetOutsideLibrary`, `unsupportedFormat` (not a regular file) or
    ///   `ioFailure`.
    public func original(of asset: AssetPath) throws(Failure) -> FilePath {
        let path = originals.pushing(FilePath(asset.string))
        guard let real = realPath(path) else {
            switch errno {
            case ENOENT, ENOTDIR, ENAMETOOLONG:
                throw Failure(
                    .missingAsset,
                    "there is no original for the asset \(asset.string.debugDescription): no file "
                        + "\(path). Check the name, or put the photo there and replay the job.")
            case ELOOP:
                throw Failure(
                    .assetOutsideLibrary,
                    "the asset \(asset.string.debugDescription) is a symbolic link that leads in a "
                        + "circle.")
            default:
                throw FileSystem.failure("opening the original", path)
            }
        }
        guard real.starts(with: originals), real != originals else {
            throw Failure(
                .assetOutsideLibrary,
                "the asset \(asset.string.debugDescription) leads out of the library through a "
                    + "symbolic link, to \(real). Put the photo itself below \(originals).")
        }
        if real != path { try check(path, leadsNoFurtherThanItsFolder: real, asset) }
        var info = stat()
        guard stat(real.string, &info) == 0 else {
            throw FileSystem.failure("reading the status of", real)
        }
        guard info.st_mode & S_IFMT == S_IFREG else {
            throw Failure(
                .unsupportedFormat,
                "the asset \(asset.string.debugDescription) is not a file but a folder or device. "
                    + "Name one photo per job.")
        }
        return real
    }

    /// Refuses a path whose first link leads out of the folder that has the link.
    ///
    /// Folders of the originals belong to different tenants, and a tenant that may write into its own may make a link there.
    /// Keys of the gateway end at a folder, and a worker does not know the owner of a folder. With this rule a photo below a
    /// folder is always the folder's own, for every reader.
    private func check(
        _ path: FilePath, leadsNoFurtherThanItsFolder real: FilePath, _ asset: AssetPath
    ) throws(Failure) {
        // The lowest folder on the way that is reached without a link; the folder of the originals is one.
        var folder = path.removingLastComponent()
        while folder != originals, realPath(folder) != folder { folder.removeLastComponent() }
        guard real.starts(with: folder) else {
            throw Failure(
                .assetOutsideLibrary,
                "the asset \(asset.string.debugDescription) is a symbolic link that leads out of its folder \(folder), to "
                    + "\(real). Readers of one folder may not see the other: make a hard link, a copy or a bind mount."
            )
        }
    }
}

/// Returns a path with all symbolic links resolved, or nil with the reason in `errno`.
func realPath(_ path: FilePath) -> FilePath? {
    guard let resolved = realpath(path.string, nil) else { return nil }
    defer { free(resolved) }
    return FilePath(String(cString: resolved))
}
