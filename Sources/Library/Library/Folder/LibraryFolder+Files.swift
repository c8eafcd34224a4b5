import Edits
import Files
import Glibc
import SystemPackage

/// Access to files by ``StoredFile``, for callers that do not know their paths.
extension LibraryFolder {
    /// Opens a file for reading.
    func open(_ file: StoredFile) throws(Failure) -> OpenFile {
        switch file {
        case .original(let asset): try openOriginal(of: asset)
        case .layer(let asset, let version, let isDraft, let name):
            try files.openFile(name, in: folder(version, isDraft: isDraft, of: asset))
        }
    }

    /// Returns the location and length of a file. A missing file is no error.
    func info(of file: StoredFile) throws(Failure) -> StoredFileInfo {
        let path = path(of: file)
        var info = stat()
        guard stat(path.string, &info) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw FileSystem.failure("reading the status of", path)
            }
            return StoredFileInfo(location: path.string, bytes: nil)
        }
        return StoredFileInfo(location: path.string, bytes: Int(info.st_size))
    }

    /// Returns the SHA-256 and length of a file; nil if it is missing.
    func digest(of file: StoredFile) throws(Failure) -> StoredDigest? {
        guard try info(of: file).bytes != nil else { return nil }
        let found = try FileDigest.sha256(of: open(file))
        return StoredDigest(sha256: found.hex, bytes: found.bytes)
    }

    /// Returns the path of a file, whether or not the file exists. Links are not resolved.
    func path(of file: StoredFile) -> FilePath {
        switch file {
        case .original(let asset): originals.pushing(FilePath(asset.string))
        case .layer(let asset, let version, let isDraft, let name):
            folder(version, isDraft: isDraft, of: asset).pushing(FilePath(name))
        }
    }

    private func folder(
        _ version: VersionName, isDraft: Bool, of asset: AssetPath
    ) -> FilePath {
        folder(version, on: isDraft ? .drafts : .versions, of: asset)
    }
}
