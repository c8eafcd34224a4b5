public import Adjustments
public import Editors
public import Files
public import FoundationEssentials

/// Photos and the versions that edits made of them, in a folder or in a bucket.
///
/// Originals are never written. A version is made in ``staging``, on this machine, from where ``seal(_:_:of:)`` brings it
/// to where any worker can publish it. It is never changed after. ``publish(_:of:from:)`` makes it current in one step that
/// compares the version it started from; so a crash at any point leaves the old version or the new one.
///
/// All calls may be repeated, by the same worker or by another one that carries on. They fail with `missingAsset`,
/// `damagedVersion` and others that name what people have to do, and with `ioFailure` for what may pass.
public protocol LibraryStore: Sendable {
    /// Where versions are made.
    var staging: Staging { get }
    /// The moment by the clock that says how old the library's files are.
    var clock: Date { get }
    /// Whether files are brought here and back over a network, while this machine could do something else.
    var isElsewhere: Bool { get }

    // MARK: Reading

    /// The current version and the draft of an asset.
    func state(of asset: AssetPath) async throws(Failure) -> AssetState
    /// The provenance of a published version, or nil when there is none of that name.
    func provenance(
        of name: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> Provenance?
    /// The versions of an asset, the current one first, as far back as they are kept.
    func history(of asset: AssetPath) async throws(Failure) -> [Provenance]
    /// The assets that anybody has edited: the next ones behind a name.
    ///
    /// - Parameter after: nil for the first ones.
    func assets(after: AssetPath?) async throws(Failure) -> AssetPage
    /// The assets that have files of versions, published or not: the next ones behind a name. One may come twice.
    ///
    /// - Parameter after: nil for the first ones.
    func storedAssets(after: AssetPath?) async throws(Failure) -> AssetPage
    /// The jobs in the history of an asset, the newest first.
    func publishedJobs(
        of asset: AssetPath, _ state: AssetState
    ) async throws(Failure) -> [PublishedJob]
    /// The version that a job has made before, by the asset's history; nil when it has made none.
    func publishedBefore(
        _ job: PublishedJob?, of asset: AssetPath, _ state: AssetState
    ) async throws(Failure) -> PublishedBefore?
    /// The videos beside an asset's original that have its name.
    func pairedVideos(of asset: AssetPath) async throws(Failure) -> [PairedVideo]
    /// Refuses an asset that nobody has edited yet and whose versions would have no place: names that are too long, or
    /// that another asset needs.
    func checkPlace(of asset: AssetPath) async throws(Failure)

    /// Opens a file for reading. It stays as it is as long as it is open.
    ///
    /// - Parameter glance: may refuse a large file by its beginning, before the rest is brought here from elsewhere.
    /// - Throws: `missingAsset`, `assetOutsideLibrary`, `damagedVersion`, `unsupportedFormat`, `ioFailure`; the refusal.
    func open(_ file: StoredFile, _ glance: Glance?) async throws(Failure) -> OpenFile
    /// Looks at a file without reading it; one that is missing is no error.
    func look(at file: StoredFile) async throws(Failure) -> StoredFileInfo
    /// SHA-256 and length of a file; nil when it is not there.
    ///
    /// - Parameter isRead: whether its bytes are read; else a digest that the store keeps beside them will do, if it
    ///   tells one: it was compared when they were written, and need not have been since.
    func digest(
        of file: StoredFile, isRead: Bool
    ) async throws(Failure) -> StoredDigest?
    /// Where a file is below the library's root, as events name it.
    func path(of file: StoredFile) async throws(Failure) -> String

    /// A URL from which anybody may read a file for some time; nil where the store has none.
    ///
    /// - Parameter time: at most; it ends earlier where the store's credentials do.
    func link(to file: StoredFile, for time: Duration) async throws(Failure) -> JobEvent.Link?

    /// Asks the store whether versions can be made now.
    ///
    /// - Throws: `storeUnavailable`, `noSpace`.
    func reach() async throws(Failure)

    // MARK: Making a version

    /// Gives a staged version a file that is stored already, without copying its bytes where the store can.
    ///
    /// - Parameter name: its path in the staged version.
    func link(
        _ file: StoredFile, as name: String, into staged: StagedVersion
    ) async throws(Failure)
    /// Adds the provenance to a staged version and makes all of it last, where other workers find it.
    func seal(
        _ staged: StagedVersion, _ provenance: Provenance, of asset: AssetPath
    ) async throws(Failure)
    /// Makes a sealed version current, or the draft, if what it was made from is still current.
    ///
    /// Idempotent: called again after a crash anywhere, by whichever worker, it finds what was done and does the rest.
    func publish(
        _ name: VersionName, of asset: AssetPath, from staged: StagedVersion
    ) async throws(Failure) -> Publication
    /// Notes that an edit asks for what the current version shows.
    ///
    /// - Parameter arrival: when that edit arrived, in µs since 1970.
    /// - Returns: false when another version became current since: the edit is to be looked at again.
    func confirm(
        _ version: Provenance, of asset: AssetPath, at arrival: Int
    ) async throws(Failure) -> Bool

    // MARK: Removing

    /// Removes a version in the making that will not be published; nothing there is fine.
    func discard(_ staged: StagedVersion) async throws(Failure)
    /// Removes the draft of an asset.
    ///
    /// - Parameter name: only if it is this one; nil for whichever it is.
    /// - Returns: what was removed, or nil when there was nothing to remove.
    func discardDraft(
        of asset: AssetPath, _ name: VersionName?
    ) async throws(Failure) -> VersionName?
    /// Removes the versions of an asset that a rule does not keep, and those that never became current.
    ///
    /// - Parameter isDryRun: whether only to look.
    func collect(
        _ asset: AssetPath, keeping retention: Retention, now: Date, isDryRun: Bool
    ) async throws(Failure) -> Collected

    // MARK: Originals that arrive

    /// Adds an original whose bytes arrive one after the other: whole, or not at all. None is ever replaced.
    ///
    /// - Parameter fill: writes the bytes to a file and says what they were; it is not called when there is an original of
    ///   that name.
    /// - Throws: `noSpace`, `invalidValue`, `assetOutsideLibrary`, `ioFailure`, `storeUnavailable`; the failure of `fill`.
    func receive(
        _ arrival: OriginalArrival,
        _ fill: (OpenFile) async throws(Failure) -> StoredDigest
    ) async throws(Failure) -> ReceivedOriginal
    /// Removes what crashes have left of originals that did not arrive whole.
    func sweepArrivals() async throws(Failure)

    // MARK: Renders that are there already

    /// Asks for the right to make the render of a key; does not wait.
    ///
    /// - Parameter staged: of the job that would render.
    func claim(
        _ key: RenderKey, of asset: AssetPath, for staged: StagedVersion
    ) async throws(Failure) -> RenderClaim
    /// Lets others have a render that was taken over, as its new version has it.
    func offer(
        _ key: RenderKey, _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure)
    /// Gives the render of a key to nobody any more: it was found to be wrong.
    func forgetRender(_ key: String) async throws(Failure)
    /// Forgets the renders that no version has any more.
    func forgetRenders() async throws(Failure)

    // MARK: Parts of movies in the making

    /// Copies a part that was rendered before into a file.
    ///
    /// - Returns: false when there is none that is whole; what is in the file is worthless then.
    func readSegment(_ name: SegmentName, into place: OpenFile) async throws(Failure) -> Bool
    /// Keeps a copy of a part for whoever goes on with the movie.
    func keepSegment(_ part: OpenFile, as name: SegmentName) async throws(Failure)
    /// Removes the parts of a movie.
    func forgetSegments(of render: RenderKey) async throws(Failure)
    /// Removes the parts of movies that nobody has written to for ``SegmentName/age``.
    func forgetOldSegments() async throws(Failure)

    // MARK: Checking

    /// Compares the files of an asset with what is recorded of them.
    ///
    /// - Parameters:
    ///   - allVersions: whether all that are kept are read, not only the current one and the draft.
    ///   - editors: decode the adjustment data.
    func verify(
        _ asset: AssetPath, allVersions: Bool, editors: EditorRegistry, now: Date
    ) async throws(Failure) -> VerifiedFiles
}

/// Looks at the beginning of a file that is not here whole, and at the length that it will have; nil: bring the rest.
///
/// It says what is true of the file for everybody: others may wait for the same bytes.
public typealias Glance = @Sendable (_ beginning: OpenFile, _ bytes: Int) async -> Failure?

extension LibraryStore {
    /// Opens a file for reading, however large it is.
    public func open(_ file: StoredFile) async throws(Failure) -> OpenFile {
        try await open(file, nil)
    }
}

/// The answer to the wish to make a render.
public enum RenderClaim: Sendable {
    /// It is ours to make, or to take over if a version has it.
    case held(any RenderEntry)
    /// Another job renders this very photo with this very recipe now.
    case busy
    /// It cannot be ours: an earlier hold of our own job has it, whose worker is stuck, or it would have gone on;
    /// or a later release wrote it.
    case lost
}

/// The right to make the render of a key; everybody else waits or does without.
public protocol RenderEntry: Sendable {
    /// Which render.
    var key: RenderKey { get }
    /// Gives a staged version the render, if a version has it; else the entry says that our job makes it.
    ///
    /// - Parameter stem: name of the render without extension.
    /// - Returns: nil when it has to be rendered; nothing of what was tried is left then.
    func reuse(as stem: String, into staged: StagedVersion) async throws(Failure) -> ReusedRender?
    /// Lets others have the render of a sealed version, and the entry.
    func offer(
        _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure)
}
