public import Edits
public import Files
public import SystemPackage

/// A folder of photos: originals, which are never written, and the versions that edits produced.
///
/// ```
/// <root>/library.json                               the library's identity
/// <root>/originals/<asset>                          the original; may be a read-only mount elsewhere
/// <root>/edits/<asset>/current -> versions/<name>   the pointer; missing if the asset was never edited
/// <root>/edits/<asset>/versions/<name>/             a version: render, .AAE, base, previews, provenance.json
/// <root>/edits/<asset>/versions/confirmed -> <name>:<µs>  arrival of the latest edit that changed nothing
/// <root>/edits/<asset>/draft -> drafts/<name>       the draft: a version that is prepared and not published
/// <root>/staging/<queue>/<job>@<fence>/             a version that is being made
/// <root>/holds/<queue>/<job>@<fence>                locked by the worker that makes that version
/// <root>/renders/                                   for each photo and recipe, the versions that have its render
/// ```
///
/// A version is made in staging, synced, moved to its shelf as a whole, and never changed afterwards. It becomes
/// current by one `rename` of the pointer, under the asset's lock, after a check that the version it started from
/// is still current. So a crash at any point leaves either the old version or the new one current. Each version has
/// all its layers in its own folder. Files that versions share are hard links, so that each version can be removed
/// alone.
///
/// All calls block on files; call them outside Swift's cooperative threads, as ``FolderLibrary`` does.
public struct LibraryFolder: Sendable {
    /// The folder of everything except the originals.
    public let root: FilePath
    /// The folder of the originals, with symbolic links resolved.
    public let originals: FilePath
    /// The staging area of versions: on the library's own disk, so that they are moved and not copied.
    public let staging: Staging
    let files: FileSystem
    /// The identity that it had when it was opened; nil: an earlier release made it, and it is only read.
    public let identity: LibraryIdentity?
    let originalsSeen: OriginalsSeen

    /// Opens a library.
    ///
    /// A folder without an identity becomes a library, with its own folders; ``contents(of:)`` tells whether it should.
    /// In a library, missing folders of its own are made, except that of originals that it has had.
    ///
    /// - Parameters:
    ///   - root: the folder for versions.
    ///   - originals: the folder of originals; nil: the folder `originals` of the root.
    ///   - faults: for tests: the points at which the process crashes.
    ///   - isRead: whether it is only read; nothing is made then.
    /// - Throws: `storeUnavailable` if originals that it has had are missing; `ioFailure` if a folder cannot be created
    ///   or the originals are missing.
    public init(
        root: FilePath, originals: FilePath? = nil, faults: FaultInjection? = nil,
        isRead: Bool = false
    ) throws(Failure) {
        let known = try LibraryIdentity.read(in: root)
        if !isRead {
            let files = FileSystem(
                faults: faults,
                anchor: known.map { _ in root.appending(LibraryIdentity.fileName) })
            let isNew = try files.makeFolder(root.appending("edits"))
            if originals == nil, known?.hasOriginals != true {
                try files.makeFolder(root.appending("originals"))
            }
            if isNew { try files.sync(root) }
        }
        guard let path = realPath(root) else {
            throw FileSystem.failure("opening the folder", root)
        }
        let named = originals ?? path.appending("originals")
        // Versions can be read without originals.
        let given = realPath(named) ?? (isRead && originals == nil ? named : nil)
        guard let folder = given else {
            let failure = FileSystem.failure("opening the folder", named)
            guard let known, known.hasOriginals else { throw failure }
            throw known.absenceOfOriginals(at: named.string)
        }
        self.root = path
        self.originals = folder
        let hasOriginals = try FileSystem().hasEntry(folder, where: Self.isContent)
        var identity = known
        if identity == nil, !isRead {
            identity = try LibraryIdentity(hasOriginals: hasOriginals).begin(in: path)
        }
        self.identity = hasOriginals ? identity?.withOriginals : identity
        files = FileSystem(
            faults: faults,
            anchor: identity.map { _ in path.appending(LibraryIdentity.fileName) })
        staging = Staging(root: path, files: files)
        // After the identity: `contents` takes a folder of staging without one for the work of an earlier release.
        if !isRead { try files.makeFolder(path.appending("staging")) }
        originalsSeen = OriginalsSeen(isRead || identity?.hasOriginals ?? true)
        if hasOriginals { noteOriginals() }
    }

    func folder(of asset: AssetPath) -> FilePath {
        root.appending("edits").pushing(FilePath(asset.string))
    }

    func lock(of asset: AssetPath) -> FilePath { folder(of: asset).appending(Self.lockName) }

    /// Runs `body` under the asset's lock. The asset's folder must exist: see ``isEdited(_:)``.
    ///
    /// It creates no folder, so that a job for an asset that does not exist leaves nothing behind.
    func locked<Result>(
        _ asset: AssetPath, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try AssetLock.withLock(lock(of: asset)) { () throws(Failure) in
            // The previous holder may have changed the folder on another machine.
            try files.refresh(folder(of: asset))
            for shelf in Shelf.allCases { try files.refresh(self.shelf(shelf, of: asset)) }
            return try body()
        }
    }
}
