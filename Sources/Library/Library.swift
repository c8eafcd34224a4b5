public import Adjustments
public import SystemPackage

/// A folder of photos: originals, which are never written, and the versions that edits made of them.
///
/// ```
/// <root>/originals/<asset>                          the original; may be a read-only mount elsewhere
/// <root>/edits/<asset>/current -> versions/<name>   the pointer; no link: the original is current
/// <root>/edits/<asset>/versions/<name>/             a version: render, .AAE, provenance.json
/// <root>/staging/<queue>/<job>@<fence>/             a version in the making
/// ```
///
/// A version is made in staging, made to last, moved to its place whole and never changed after.
/// It becomes current by one `rename` of the pointer, which compares the revision it started from
/// under the asset's lock. So a crash at any point leaves the old version or the new one.
///
/// All calls block on files; keep them off Swift's cooperative threads.
public struct Library: Sendable {
    /// Where everything but the originals is.
    public let root: FilePath
    /// Where the originals are, with symbolic links resolved.
    public let originals: FilePath

    /// Opens a library, making its own folders where they are missing.
    ///
    /// - Parameters:
    ///   - root: where versions go.
    ///   - originals: where originals are; nil for the folder `originals` of the root.
    /// - Throws: `ioFailure` when a folder cannot be made or the originals are not there.
    public init(root: FilePath, originals: FilePath? = nil) throws(Failure) {
        try Files.makeFolder(root.appending("edits"))
        try Files.makeFolder(root.appending("staging"))
        if originals == nil { try Files.makeFolder(root.appending("originals")) }
        guard let root = realPath(root),
            let folder = realPath(originals ?? root.appending("originals"))
        else {
            throw Files.failure("opening the folder", originals ?? root)
        }
        self.root = root
        self.originals = folder
    }

    func folder(of asset: AssetPath) -> FilePath {
        root.appending("edits").pushing(FilePath(asset.string))
    }

    func versions(of asset: AssetPath) -> FilePath { folder(of: asset).appending("versions") }

    func pointer(of asset: AssetPath) -> FilePath { folder(of: asset).appending("current") }

    /// The current version of an asset, or nil when the original is current.
    public func current(of asset: AssetPath) throws(Failure) -> VersionName? {
        guard let target = try Files.linkTarget(pointer(of: asset)) else { return nil }
        guard let name = FilePath(target).lastComponent.flatMap({ VersionName($0.string) }) else {
            throw Failure(
                .ioFailure,
                "\(pointer(of: asset)) points to \(target.debugDescription), which is not the name "
                    + "of a version. Somebody else wrote it; restore or remove the link.")
        }
        return name
    }
}
