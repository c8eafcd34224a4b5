public import Edits
public import Files
public import FoundationEssentials
public import SystemPackage

/// A library in a folder. Its calls block outside Swift's cooperative threads.
public struct FolderLibrary: LibraryStore {
    /// The folder itself, whose calls block their thread.
    public let folder: LibraryFolder

    /// Creates a library of an open folder.
    public init(_ folder: LibraryFolder) { self.folder = folder }

    /// Opens a library, as ``LibraryFolder/init(root:originals:faults:isRead:)`` does.
    public init(
        root: FilePath, originals: FilePath? = nil, isRead: Bool = false
    ) throws(Failure) {
        folder = try LibraryFolder(root: root, originals: originals, isRead: isRead)
    }

    public var staging: Staging { folder.staging }

    public var identity: LibraryIdentity? { folder.identity }

    public func state(of asset: AssetPath) async throws(Failure) -> AssetState {
        try await offPool { () throws(Failure) in try folder.state(of: asset) }
    }

    public func provenance(
        of name: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> Provenance? {
        try await offPool { () throws(Failure) in try folder.provenance(of: name, asset) }
    }

    public func history(of asset: AssetPath) async throws(Failure) -> [Provenance] {
        try await offPool { () throws(Failure) in try folder.history(of: asset) }
    }

    /// Returns all assets in one page, because sorting them needs a walk through the whole tree.
    public func assets(after: AssetPath?) async throws(Failure) -> AssetPage {
        guard after == nil else { return AssetPage([]) }
        return AssetPage(try await offPool { () throws(Failure) in try folder.assets() })
    }

    public func storedAssets(after: AssetPath?) async throws(Failure) -> AssetPage {
        try await assets(after: after)
    }

    public func publishedJobs(
        of asset: AssetPath, _ state: AssetState
    ) async throws(Failure) -> PublishedJobs {
        try await offPool { () throws(Failure) in try folder.publishedJobs(of: asset, state) }
    }

    public func publishedBefore(
        _ job: PublishedJob?, of asset: AssetPath, _ state: AssetState
    ) async throws(Failure) -> PublishedBefore? {
        try await offPool { () throws(Failure) in
            try folder.publishedBefore(job, of: asset, state)
        }
    }

    public func pairedVideos(of asset: AssetPath) async throws(Failure) -> [PairedVideo] {
        try await offPool { () throws(Failure) in try folder.pairedVideos(of: asset) }
    }

    public func checkEntries(of asset: AssetPath) async throws(Failure) {
        try await offPool { () throws(Failure) in try folder.checkEntries(of: asset) }
    }

    public func open(
        _ file: StoredFile, _ check: BeginningCheck?
    ) async throws(Failure) -> OpenFile {
        try await offPool { () throws(Failure) in try folder.open(file) }
    }

    public func info(of file: StoredFile) async throws(Failure) -> StoredFileInfo {
        try await offPool { () throws(Failure) in try folder.info(of: file) }
    }

    /// Always reads the bytes, because a folder stores no digests of originals.
    public func digest(
        of file: StoredFile, isRead: Bool
    ) async throws(Failure) -> StoredDigest? {
        try await offPool { () throws(Failure) in try folder.digest(of: file) }
    }

    public func path(of file: StoredFile) async throws(Failure) -> String {
        switch file {
        case .original(let asset): "originals/\(asset)"
        case .layer(let asset, let version, let isDraft, let name):
            "\(LibraryFolder.path(of: version, isDraft: isDraft, asset))/\(name)"
        }
    }

    /// Returns nil, because a folder has no URLs.
    public func link(
        to file: StoredFile, for time: Duration
    ) async throws(Failure) -> JobEvent.Link? { nil }

    public func checkPresence() async throws(Failure) {
        try await offPool { () throws(Failure) in try folder.checkPresence() }
    }

    /// Checks the presence of the library and its staging folder. If the folder hangs, so does the call; if it cannot be
    /// written, the call throws that failure. A full disk is not an outage: smaller photos may still fit, so each job
    /// reports its own failure.
    public func reach() async throws(Failure) {
        do throws(Failure) {
            try await offPool { () throws(Failure) in
                try folder.checkPresence()
                try staging.checkWritable()
            }
        } catch {
            guard error.code == .noSpace else { throw error }
        }
    }

    public var isElsewhere: Bool { false }

    public var clock: Date { .now }

    public func link(
        _ file: StoredFile, as name: String, into staged: StagedVersion
    ) async throws(Failure) {
        try await offPool { () throws(Failure) in
            try staging.link(folder.path(of: file), as: name, into: staged)
        }
    }

    public func seal(
        _ staged: StagedVersion, _ provenance: Provenance, of asset: AssetPath
    ) async throws(Failure) {
        try await offPool { () throws(Failure) in try staging.seal(staged, provenance) }
    }

    public func publish(
        _ name: VersionName, of asset: AssetPath, from staged: StagedVersion
    ) async throws(Failure) -> Publication {
        try await offPool { () throws(Failure) in
            try folder.publish(name, of: asset, from: staged)
        }
    }

    public func confirm(
        _ version: Provenance, of asset: AssetPath, at arrival: Int
    ) async throws(Failure) -> Bool {
        try await offPool { () throws(Failure) in
            try folder.confirm(version, of: asset, at: arrival)
        }
    }

    public func discard(_ staged: StagedVersion) async throws(Failure) {
        try await offPool { () throws(Failure) in try staging.discard(staged) }
    }

    public func discardDraft(
        of asset: AssetPath, _ name: VersionName?
    ) async throws(Failure) -> VersionName? {
        try await offPool { () throws(Failure) in try folder.discardDraft(of: asset, name) }
    }

    public func collect(
        _ asset: AssetPath, keeping retention: Retention, now: Date, isDryRun: Bool
    ) async throws(Failure) -> Collected {
        try await offPool { () throws(Failure) in
            try folder.collect(asset, keeping: retention, now: now, isDryRun: isDryRun)
        }
    }

    public func claim(
        _ key: RenderKey, of asset: AssetPath, for staged: StagedVersion
    ) async throws(Failure) -> RenderClaim {
        let claim = try await offPool { () throws(Failure) in
            try folder.claim(key, for: staged)
        }
        return switch claim {
        case .claimed(let file): .claimed(FolderRenderEntry(file: file, folder: folder))
        case .busy: .busy
        case .lost: .lost
        }
    }

    public func offer(
        _ key: RenderKey, _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure) {
        try await offPool { () throws(Failure) in
            try folder.offer(key, version, of: asset, in: staged)
        }
    }

    public func removeRenderRecord(_ key: String) async throws(Failure) {
        try await offPool { () throws(Failure) in try folder.removeRenderRecord(key) }
    }

    public func removeUnusedRenderRecords() async throws(Failure) {
        _ = try await offPool { () throws(Failure) in try folder.removeUnusedRenderRecords() }
    }

    public func readMoviePart(
        _ name: MoviePartName, into file: OpenFile
    ) async throws(Failure) -> Bool {
        try await offPool { () throws(Failure) in try folder.readMoviePart(name, into: file) }
    }

    public func keepMoviePart(_ part: OpenFile, as name: MoviePartName) async throws(Failure) {
        try await offPool { () throws(Failure) in try folder.keepMoviePart(part, as: name) }
    }

    public func removeMovieParts(of render: RenderKey) async throws(Failure) {
        try await offPool { () throws(Failure) in try folder.removeMovieParts(of: render) }
    }

    public func removeOldMovieParts() async throws(Failure) {
        try await offPool { () throws(Failure) in try folder.removeOldMovieParts(before: clock) }
    }
}

/// The right to make a render: the locked file of its key.
private struct FolderRenderEntry: RenderEntry {
    let file: RenderFile
    let folder: LibraryFolder

    var key: RenderKey { file.key }

    func reuse(
        as stem: String, into staged: StagedVersion
    ) async throws(Failure) -> RenderedPhoto? {
        try await offPool { () throws(Failure) in try folder.reuse(file, as: stem, into: staged) }
    }

    func offer(
        _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure) {
        try await offPool { () throws(Failure) in
            try folder.offer(file, version, of: asset, in: staged)
        }
    }
}

extension FolderLibrary: CopyableLibrary {
    /// The most originals of a page.
    private static let originalsMax = 1_000

    package func originals(
        _ page: (OriginalsPage) async throws(Failure) -> Void
    ) async throws(Failure) {
        var listing = OriginalsListing(folder.originals, folder.files)
        while true {
            let here = listing
            let (next, found) = try await offPool { () throws(Failure) in
                var listing = here
                let found = try listing.next(atMost: Self.originalsMax)
                return (listing, found)
            }
            guard let found else { return }
            listing = next
            try await page(found)
        }
    }

    package func isEdited(_ asset: AssetPath) async throws(Failure) -> Bool {
        try await offPool { () throws(Failure) in try folder.isEdited(asset) }
    }

    package func sweepCopies() async throws(Failure) {
        try await offPool { () throws(Failure) in
            for staged in try staging.sweepable(in: LibraryFolder.copyQueue) {
                _ = try staging.sweep(staged)
            }
        }
    }

    package func copy(
        original source: OpenFile, _ digest: StoredDigest, of asset: AssetPath
    ) async throws(Failure) {
        try await offPool { () throws(Failure) in
            try folder.copy(original: source, digest, of: asset)
        }
    }

    /// Builds the version in staging and moves the complete folder to its shelf.
    package func copy(
        _ version: VersionCopy, of asset: AssetPath, from source: any CopyableLibrary
    ) async throws(Failure) -> CopyTally {
        let text = try await source.provenanceText(of: version, asset)
        let shelved = try await offPool { () throws(Failure) in
            try folder.shelved(version, text, of: asset)
        }
        if let shelved { return shelved }
        let staged = LibraryFolder.staged(version, of: asset)
        do throws(Failure) {
            var tally = CopyTally()
            try await offPool { () throws(Failure) in
                try staging.begin(staged)
                try folder.link(version, of: asset, into: staged)
            }
            for file in version.files {
                guard file.link == nil else {
                    tally.skipped(file.recorded.bytes ?? 0)
                    continue
                }
                let open = try await source.open(file, of: version, asset)
                let found = try await offPool { () throws(Failure) in
                    try staging.copy(open, as: file.recorded.name, into: staged, bytesMax: .max)
                }
                try file.recorded.check(
                    StoredDigest(sha256: found.hex, bytes: found.bytes), open.name)
                tally.copied(found.bytes)
            }
            try await offPool { () throws(Failure) in
                try folder.shelve(version, text, of: asset, from: staged)
            }
            tally.copied(text.count)
            return tally
        } catch {
            do throws(Failure) {
                try await discard(staged)
            } catch {
                // The first failure is more informative. The next copy removes the remaining files.
            }
            throw error
        }
    }

    package func advance(
        _ asset: AssetPath, to history: KeptHistory
    ) async throws(Failure) -> HeadAdvance {
        try await offPool { () throws(Failure) in try folder.advance(asset, to: history) }
    }
}
