public import Adjustments

/// A file of a library, wherever that keeps it.
public enum StoredFile: Sendable, Hashable {
    /// A file below the originals: an asset's photo, or what an import names.
    case original(AssetPath)
    /// A file of a version or draft.
    case layer(AssetPath, version: VersionName, isDraft: Bool, name: String)

    /// A file of a version.
    ///
    /// - Parameter name: its path in the version's folder, as the version's content has it.
    /// - Throws: `damagedVersion` when the version's name is none.
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

/// The place and length of a stored file.
public struct StoredFileInfo: Sendable, Equatable {
    /// Its path, or its URL.
    public let place: String
    /// Its length; nil when it is not there.
    public let bytes: Int?

    /// Describes a file.
    public init(place: String, bytes: Int?) {
        self.place = place
        self.bytes = bytes
    }
}

/// The SHA-256 and length of a stored file.
public struct StoredDigest: Sendable, Equatable {
    /// SHA-256 of its bytes, in hex.
    public let sha256: String
    /// Its length.
    public let bytes: Int

    /// Describes a file's bytes.
    public init(sha256: String, bytes: Int) {
        self.sha256 = sha256
        self.bytes = bytes
    }
}
