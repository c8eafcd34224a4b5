public import Adjustments
public import Files
public import SystemPackage

/// A folder of photos: originals, which are never written, and the versions that edits made of them.
///
/// ```
/// <root>/originals/<asset>                          the original; may be a read-only mount elsewhere
/// <root>/edits/<asset>/current -> versions/<name>   the pointer; no link: nobody has edited it
/// <root>/edits/<asset>/versions/<name>/             a version: render, .AAE, base, previews, provenance.json
/// <root>/edits/<asset>/versions/confirmed -> <name>:<µs>  when an edit arrived that found it to be what it asks for
/// <root>/edits/<asset>/draft -> drafts/<name>       a version that is prepared and not published
/// <root>/staging/<queue>/<job>@<fence>/             a version in the making
/// <root>/holds/<queue>/<job>@<fence>                locked by the worker that makes that version
/// <root>/renders/                                   which versions have the render of which photo and recipe
/// ```
///
/// A version is made in staging, made to last, moved to its place whole and never changed after.
/// It becomes current by one `rename` of the pointer, which compares the version it started from
/// under the asset's lock. So a crash at any point leaves the old version or the new one. Each version has all
/// its layers in its own folder; what versions share are hard links, so that each can be removed alone.
///
/// All calls block on files; keep them off Swift's cooperative threads. ``FolderLibrary`` does.
public struct LibraryFolder: Sendable {
    /// Where everything but the originals is.
    public let root: FilePath
    /// Where the originals are, with symbolic links resolved.
    public let originals: FilePath
    /// Where its versions are made: on its own disk, so that they need no copy.
    public let staging: Staging
    let files: FileSystem

    /// Opens a library, making its own folders where they are missing.
    ///
    /// - Parameters:
    ///   - root: where versions go.
    ///   - originals: where originals are; nil for the folder `originals` of the root.
    ///   - faults: for tests, where the process is to crash.
    /// - Throws: `ioFailure` when a folder cannot be made or the originals are not there.
    public init(
        root: FilePath, originals: FilePath? = nil, faults: FaultInjection? = nil
    ) throws(Failure) {
        files = FileSystem(faults: faults)
        let isNew = try files.makeFolder(root.appending("edits"))
        try files.makeFolder(root.appending("staging"))
        if originals == nil { try files.makeFolder(root.appending("originals")) }
        guard let root = realPath(root),
            let folder = realPath(originals ?? root.appending("originals"))
        else {
            throw FileSystem.failure("opening the folder", originals ?? root)
        }
        if isNew { try files.sync(root) }
        self.root = root
        self.originals = folder
        staging = Staging(root: root, files: files)
    }

    func folder(of asset: AssetPath) -> FilePath {
        root.appending("edits").pushing(FilePath(asset.string))
    }

    func lock(of asset: AssetPath) -> FilePath { folder(of: asset).appending(Self.lockName) }

    /// Runs `body` while nobody else changes the asset, whose folder is there: see ``isEdited(_:)``.
    ///
    /// It makes no folder, so that a job for what does not exist leaves nothing behind.
    func locked<Result>(
        _ asset: AssetPath, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try AssetLock.hold(lock(of: asset)) { () throws(Failure) in
            // The last holder may have changed it on another machine.
            try files.refresh(folder(of: asset))
            for shelf in Shelf.allCases { try files.refresh(self.shelf(shelf, of: asset)) }
            return try body()
        }
    }
}
