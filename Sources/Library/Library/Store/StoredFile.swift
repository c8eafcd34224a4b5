public import Edits

/// A file of a library, independent of the kind of store.
public enum StoredFile: Sendable, Hashable {
    /// A file below the originals: an asset's photo, or a file that an import names.
    case original(AssetPath)
    /// A file of a version or draft.
    case layer(AssetPath, version: VersionName, isDraft: Bool, name: String)

    /// Creates the name of a file of a version.
    ///
    /// - Parameter name: its path in the version's folder, as recorded in the version's content.
    /// - Throws: `damagedVersion` if the version's name is invalid.
    public init(
        _ name: String, of version: Provenance, _ asset: AssetPath
    ) throws(Failure) {
        guard let versionName = VersionName(version.version) else {
            throw Failure(
                .damagedVersion,
                "\(version.version.debugDescription) is no name of a version of \(asset).")
        }
        self = .layer(asset, version: versionName, isDraft: version.isDraft, name: name)
    }
}

/// The location and length of a stored file.
public struct StoredFileInfo: Sendable, Equatable {
    /// Its path, or its URL.
    public let location: String
    /// Its length; nil if it is missing.
    public let bytes: Int?

    /// Creates a description of a file.
    public init(location: String, bytes: Int?) {
        self.location = location
        self.bytes = bytes
    }
}

/// The SHA-256 and length of a stored file.
public struct StoredDigest: Sendable, Equatable {
    /// The SHA-256 of its bytes, in hex.
    public let sha256: String
    /// Its length.
    public let bytes: Int

    /// Creates a digest.
    public init(sha256: String, bytes: Int) {
        self.sha256 = sha256
        self.bytes = bytes
    }
}
