public import Edits
public import Files
public import FoundationEssentials
import Glibc
import PhotoFiles
public import SystemPackage

/// A folder of photos: originals, which are never written, and the versions that edits produced.
///
/// ```
/// <root>/library.json                               the library's identity
/// <root>/originals/<asset>                          the original; may be a read-only mount elsewhere
/// <root>/edits/<asset>/current -> versions/<name>   the pointer; missing if the asset was never edited
/// <root>/edits/<asset>/versions/<name>/             a version: render, .AAE, base, previews, provenance.json
/// <root>/edits/<asset>/versions/confirmed -> <name>:<µs>  arrival of the latest edit that changed nothing
/// <root>/edits/<asset>/sizes/<name>/                renditions of that version; see ``SizeList``
/// <root>/edits/<asset>/draft -> drafts/<name>       the draft: a version that is prepared and not published
/// <root>/staging/<queue>/<job>@<fence>/             a version that is being made
/// <root>/holds/<queue>/<job>@<fence>                locked by the worker that makes that version
/// <root>/queues/<queue>.json                        what a queue has to find again if its Redis has lost it
/// <root>/renders/                                   for each photo and recipe, the versions that have its render
/// ```
///
/// A version is made in staging, synced, moved to its shelf as a whole, and never changed afterwards. It becomes
/// current by one `rename` of the pointer, under the asset's lock, after a check that the version it started from
/// is still current. So a crash at any point leaves either the old version or the new one current. Each version has
/// all its layers in its own folder. Files that versions share are hard links, so that each version can be removed
/// alone.
///
/// Its asynchronous calls block on files outside Swift's cooperative threads. What they do to one asset is in
/// ``AssetFolder``.
public struct LibraryFolder: LibraryStore {
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

    /// The folder of all versions.
    var edits: FilePath { root.appending("edits") }

    func folder(of asset: AssetPath) -> AssetFolder { AssetFolder(asset, in: self) }

    /// Runs a call that blocks on the files of an asset on a thread outside Swift's cooperative pool.
    func blocking<Result: Sendable>(
        _ asset: AssetPath,
        _ body: @escaping @Sendable (AssetFolder) throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let folder = folder(of: asset)
        return try await offPool { () throws(Failure) in try body(folder) }
    }
}

extension LibraryFolder {
    /// Opens an asset's original.
    ///
    /// Links are resolved first, as by ``original(of:)``. Then the kernel opens the resolved path and refuses any
    /// link that was inserted into it in the meantime.
    ///
    /// - Throws: the failures of ``original(of:)``. The name of the opened file is its path.
    package func openOriginal(of asset: AssetPath) throws(Failure) -> OpenFile {
        var path = try original(of: asset)
        _ = path.removePrefix(originals)
        let file = try files.openFile(path.string, in: originals, changed: .assetOutsideLibrary)
        noteOriginals()
        return file
    }

    /// Returns the file of an asset's original, with symbolic links resolved.
    ///
    /// A link may lead to what is below the folder that has it, and no further: see ``check(_:leadsNoFurtherThanItsFolder:_:)``.
    ///
    /// - Throws: `missingAsset`, `assetOutsideLibrary`, `unsupportedFormat` (not a regular file) or
    ///   `ioFailure`.
    package func original(of asset: AssetPath) throws(Failure) -> FilePath {
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

extension LibraryFolder {
    public var isElsewhere: Bool { false }
    public var clock: Date { .now }

    public func state(of asset: AssetPath) async throws(Failure) -> AssetState {
        try await blocking(asset) { folder throws(Failure) in try folder.state() }
    }

    public func provenance(
        of name: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> Provenance? {
        try await blocking(asset) { folder throws(Failure) in try folder.provenance(of: name) }
    }

    public func history(of asset: AssetPath) async throws(Failure) -> [Provenance] {
        try await blocking(asset) { folder throws(Failure) in try folder.history() }
    }

    public func checkEntries(of asset: AssetPath) async throws(Failure) {
        try await blocking(asset) { folder throws(Failure) in try folder.checkEntries() }
    }

    /// Returns all assets in one page, because sorting them needs a walk through the whole tree.
    public func assets(after: AssetPath?) async throws(Failure) -> AssetPage {
        guard after == nil else { return AssetPage([]) }
        return try await offPool { () throws(Failure) in
            var assets: [AssetPath] = []
            var open = [edits]
            let depth = edits.components.count
            while let path = open.popLast() {
                var names = try files.list(path)
                if names.contains(where: AssetFolder.ownNames.contains),
                    path.components.count > depth
                {
                    let name = path.components.dropFirst(depth).map(\.string)
                    let asset = try AssetPath(name.joined(separator: "/"))
                    if try folder(of: asset).isEdited() {
                        assets.append(asset)
                        names.removeAll(where: AssetFolder.ownNames.contains)
                    }
                }
                for name in names where try files.isFolder(path.appending(name)) {
                    open.append(path.appending(name))
                }
            }
            return AssetPage(assets.sorted { $0.string < $1.string })
        }
    }

    public func storedAssets(after: AssetPath?) async throws(Failure) -> AssetPage {
        try await assets(after: after)
    }

    public func open(
        _ file: StoredFile, _ check: BeginningCheck?
    ) async throws(Failure) -> OpenFile {
        try await offPool { () throws(Failure) in try opened(file) }
    }

    func opened(_ file: StoredFile) throws(Failure) -> OpenFile {
        switch file {
        case .original(let asset): try openOriginal(of: asset)
        case .layer(let asset, let version, let isDraft, let name):
            try files.openFile(
                name, in: folder(of: asset).folder(version, on: Shelf(isDraft: isDraft)))
        case .rendition(let asset, let version, let file):
            try files.openFile(file, in: folder(of: asset).sizes(of: version))
        }
    }

    public func info(of file: StoredFile) async throws(Failure) -> StoredFileInfo {
        try await offPool { () throws(Failure) in
            let path = filePath(of: file)
            var info = stat()
            guard stat(path.string, &info) == 0 else {
                guard errno == ENOENT || errno == ENOTDIR else {
                    throw FileSystem.failure("reading the status of", path)
                }
                return StoredFileInfo(location: path.string, bytes: nil)
            }
            return StoredFileInfo(location: path.string, bytes: Int(info.st_size))
        }
    }

    /// Always reads the bytes, because a folder stores no digests of originals.
    public func digest(
        of file: StoredFile, isRead: Bool
    ) async throws(Failure) -> StoredDigest? {
        guard try await info(of: file).bytes != nil else { return nil }
        let open = try await offPool { () throws(Failure) in try opened(file) }
        return StoredDigest(try await FileDigest.digest(of: open))
    }

    /// Returns the path of a file, whether or not the file exists. Links are not resolved.
    func filePath(of file: StoredFile) -> FilePath {
        switch file {
        case .original(let asset): originals.pushing(FilePath(asset.string))
        case .layer(let asset, let version, let isDraft, let name):
            folder(of: asset).folder(version, on: Shelf(isDraft: isDraft)).pushing(FilePath(name))
        case .rendition(let asset, let version, let file):
            folder(of: asset).sizes(of: version).pushing(FilePath(file))
        }
    }

    public func path(of file: StoredFile) async throws(Failure) -> String {
        switch file {
        case .original(let asset): "originals/\(asset)"
        case .layer(let asset, let version, let isDraft, let name):
            "edits/\(asset)/\(Shelf(isDraft: isDraft).folder)/\(version)/\(name)"
        case .rendition(let asset, let version, let file):
            "edits/\(asset)/\(SizeList.folder)/\(version)/\(file)"
        }
    }

    /// Returns nil, because a folder has no URLs.
    public func url(
        of file: StoredFile, for time: Duration
    ) async throws(Failure) -> JobEvent.Link? { nil }
}

/// Making versions.
extension LibraryFolder {
    /// Checks the presence of the library and its staging folder. If the folder hangs, so does the call; if it cannot be
    /// written, the call throws that failure. A full disk is not an outage: smaller photos may still fit, so each job
    /// reports its own failure.
    public func reach() async throws(Failure) {
        try await checkPresence()
        do throws(Failure) {
            try await offPool { () throws(Failure) in try staging.checkWritable() }
        } catch {
            guard error.code == .noSpace else { throw error }
        }
    }

    public func link(
        _ file: StoredFile, as name: String, into staged: StagedVersion
    ) async throws(Failure) {
        try await offPool { () throws(Failure) in
            try staging.link(filePath(of: file), as: name, into: staged)
        }
    }

    public func seal(
        _ staged: StagedVersion, _ provenance: Provenance, _ sizes: SizeList, of asset: AssetPath
    ) async throws(Failure) -> SizeList {
        try await offPool { () throws(Failure) in try staging.seal(staged, provenance, sizes) }
        return sizes
    }

    public func discard(_ staged: StagedVersion) async throws(Failure) {
        try await offPool { () throws(Failure) in try staging.discard(staged) }
    }
}

/// A video beside a still with the same name, like the other half of a Live Photo.
public struct PairedVideo: Sendable, Equatable {
    /// Its path below the originals.
    public let path: AssetPath
    /// The content identifier that pairs it with a still; nil if it cannot be read.
    public let contentIdentifier: String?

    public init(path: AssetPath, contentIdentifier: String?) {
        self.path = path
        self.contentIdentifier = contentIdentifier
    }

    /// The endings of a video's name after its still's stem: those of cameras, and those of iCloud downloaders,
    /// which add `_HEVC` so that the videos of a HEIC and of a JPEG with one name do not collide.
    package static let endings = [
        ".MOV", ".mov", ".MP4", ".mp4", "_HEVC.MOV", "_HEVC.mov", "_HEVC.MP4", "_HEVC.mp4",
    ]
}

extension LibraryFolder {
    public func pairedVideos(of asset: AssetPath) async throws(Failure) -> [PairedVideo] {
        let still = FilePath(asset.string)
        let stem = still.removingLastComponent().appending(asset.stem).string
        return try await offPool { () throws(Failure) in
            var videos: [PairedVideo] = []
            for ending in PairedVideo.endings {
                // No file has a name that is too long.
                guard let path = try? AssetPath(stem + ending) else { continue }
                if let video = try video(at: path) { videos.append(video) }
            }
            return videos
        }
    }

    func video(at asset: AssetPath) throws(Failure) -> PairedVideo? {
        let file: OpenFile
        do throws(Failure) {
            file = try openOriginal(of: asset)
        } catch {
            // A link that leads out of the library, or a folder: not the half of a Live Photo.
            if error.code == .ioFailure { throw error }
            return nil
        }
        let length = try file.length()
        let window = FileWindow(length: length) { file.bytes(from: $0, count: $1) }
        return PairedVideo(
            path: asset,
            // The identifier of an unreadable video is unknown; the video is still listed.
            contentIdentifier: MovieIdentifier.identifier(in: window))
    }
}
