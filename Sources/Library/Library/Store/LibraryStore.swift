public import Editors
public import Edits
public import Files
public import FoundationEssentials

/// Photos and the versions that edits produced, in a folder or in a bucket.
///
/// Originals are never written. A version is made in ``VersionWriter/staging``, on this machine.
/// ``VersionWriter/seal(_:_:of:)`` transfers it to where any worker can publish it. It is never changed afterwards.
/// ``VersionWriter/publish(_:of:from:)`` makes it current in one atomic step that checks that the version it started
/// from is still current. So a crash at any point leaves either the old version or the new one current.
///
/// All calls may be repeated, by the same worker or by another one that takes the job over. They fail with
/// `missingAsset`, `damagedVersion` and other codes that require action by the operator or producer, and with
/// `ioFailure` for conditions that may be temporary.
public typealias LibraryStore = VersionWriter & RenderReuse & OriginalsInbox & DeadLetters

/// The part of a library that readers need: a gateway, and commands that show and compare.
public protocol LibraryReader: Sendable {
    /// Whether files are transferred over a network, during which this machine could do other work.
    var isElsewhere: Bool { get }
    /// The identity that the library had when it was opened; nil: it is only read, and an earlier release made it.
    var identity: LibraryIdentity? { get }

    /// Checks that the library that was opened and its originals are at their places. Otherwise nothing that is absent
    /// there is a fact about an asset.
    ///
    /// - Throws: `storeUnavailable`, `ioFailure`.
    func checkPresence() async throws(Failure)

    /// Returns what a queue has left here to find again if its Redis has lost it; nil: nothing yet.
    func note(of queue: String) async throws(Failure) -> [UInt8]?

    /// Returns the current version and the draft of an asset.
    func state(of asset: AssetPath) async throws(Failure) -> AssetState
    /// Returns the provenance of a published version; nil if there is none of that name.
    func provenance(
        of name: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> Provenance?
    /// Returns the renditions of a version or draft; none if it has none, or does not exist.
    func sizes(of version: VersionName, _ asset: AssetPath) async throws(Failure) -> SizeList
    /// Returns the kept versions of an asset, the current one first.
    func history(of asset: AssetPath) async throws(Failure) -> [Provenance]
    /// Returns the next page of edited assets after a name.
    ///
    /// - Parameter after: the name; nil: the first page.
    func assets(after: AssetPath?) async throws(Failure) -> AssetPage
    /// Returns the videos beside an asset's original that have its name.
    func pairedVideos(of asset: AssetPath) async throws(Failure) -> [PairedVideo]

    /// Opens a file for reading. Its content stays unchanged while it is open.
    ///
    /// - Parameter check: may reject a large file by its beginning, before the rest is transferred.
    /// - Throws: `missingAsset`, `assetOutsideLibrary`, `damagedVersion`, `unsupportedFormat`, `ioFailure`; the
    ///   failure that `check` returned.
    func open(_ file: StoredFile, _ check: BeginningCheck?) async throws(Failure) -> OpenFile
    /// Returns the location and length of a file without reading it. A missing file is no error.
    func info(of file: StoredFile) async throws(Failure) -> StoredFileInfo
    /// Returns the SHA-256 and length of a file; nil if it is missing.
    ///
    /// - Parameter isRead: whether its bytes are read. Otherwise a digest that the store keeps with the file
    ///   suffices, if it provides one: the store compared it when the bytes were written, and perhaps not since.
    func digest(
        of file: StoredFile, isRead: Bool
    ) async throws(Failure) -> StoredDigest?
    /// Returns the path of a file below the library's root, as used in events.
    func path(of file: StoredFile) async throws(Failure) -> String
    /// Returns a URL from which any client may read a file for some time; nil if the store has none.
    ///
    /// - Parameter time: the longest validity. The URL expires earlier if the store's credentials do.
    func url(of file: StoredFile, for time: Duration) async throws(Failure) -> JobEvent.Link?

    /// Compares the files of an asset with their records.
    ///
    /// - Parameters:
    ///   - allVersions: whether all kept versions are read, not only the current one and the draft.
    ///   - editors: the editors that decode the adjustment data.
    /// - Throws: `missingAsset` if neither an edit nor an original of that name exists; `storeUnavailable`,
    ///   `ioFailure`.
    func verify(
        _ asset: AssetPath, allVersions: Bool, editors: EditorRegistry, now: Date
    ) async throws(Failure) -> VerifiedFiles
}

/// Making, publishing and removing versions.
public protocol VersionWriter: LibraryReader {
    /// The staging area, in which versions are made.
    var staging: Staging { get }
    /// The present time, by the clock that determines the ages of the library's files.
    var clock: Date { get }

    /// Has the library keep the note of a queue in place of the last one: at most 4 KB.
    func keep(_ note: [UInt8], of queue: String) async throws(Failure)

    /// Checks whether the store can accept versions now.
    ///
    /// - Throws: `storeUnavailable`, `noSpace`.
    func reach() async throws(Failure)
    /// Refuses an unedited asset whose versions could not be stored: its names are too long, or another asset needs
    /// them.
    ///
    /// - Throws: `invalidValue`, `ioFailure`.
    func checkEntries(of asset: AssetPath) async throws(Failure)

    /// Adds a stored file to a staged version, without copying its bytes if the store can.
    ///
    /// - Parameter name: its path in the staged version.
    func link(
        _ file: StoredFile, as name: String, into staged: StagedVersion
    ) async throws(Failure)
    /// Adds the provenance and the renditions to a staged version and makes it durable where other workers find it.
    ///
    /// - Parameter sizes: the renditions, whose files are staged as ``StoredRendition/stagedName``.
    /// - Returns: the renditions with the names of their files in this store.
    @discardableResult
    func seal(
        _ staged: StagedVersion, _ provenance: Provenance, _ sizes: SizeList, of asset: AssetPath
    ) async throws(Failure) -> SizeList
    /// Adds staged renditions to a version that is kept, or to the draft. Of two with one name, the one of the job that
    /// arrived last stays.
    ///
    /// - Returns: the renditions of the version afterwards.
    /// - Throws: `missingVersion` if the version is not kept any more; `exceedsLimit` if it would have too many.
    func add(
        _ renditions: [String: StoredRendition], to version: VersionName, of asset: AssetPath,
        from staged: StagedVersion
    ) async throws(Failure) -> SizeList
    /// Makes a sealed version current, or the draft, if the version it was made from is still current, and its job
    /// has not made another one: see ``PublishFacts``.
    ///
    /// Idempotent: if it is called again after a crash at any point, by any worker, it detects the finished steps
    /// and completes the rest.
    func publish(
        _ name: VersionName, of asset: AssetPath, from staged: StagedVersion
    ) async throws(Failure) -> Publication
    /// Records that an edit requests the content that the current version already has.
    ///
    /// - Parameter arrival: the arrival of that edit, in µs since 1970.
    /// - Returns: false if another version has become current. The edit must then be planned again.
    func confirm(
        _ version: Provenance, of asset: AssetPath, at arrival: Int
    ) async throws(Failure) -> Bool

    /// Removes a staged version that will not be published. If there is none, the call succeeds.
    func discard(_ staged: StagedVersion) async throws(Failure)
    /// Removes the draft of an asset.
    ///
    /// - Parameter name: the name that the draft must have; nil: the asset had none, and the remains of one after a
    ///   crash are removed. Another draft, which came since, stays.
    /// - Returns: the removed draft; nil if there was nothing to remove.
    /// - Throws: `missingAsset` if there is neither an edit nor an original; `ioFailure`.
    func discardDraft(
        of asset: AssetPath, _ name: VersionName?
    ) async throws(Failure) -> VersionName?
    /// Returns the next page of assets that have files of versions, published or not, after a name. An asset may
    /// occur twice.
    ///
    /// - Parameter after: the name; nil: the first page.
    func storedAssets(after: AssetPath?) async throws(Failure) -> AssetPage
    /// Removes the versions of an asset that a retention rule does not keep, and those that never became current.
    ///
    /// - Parameter isDryRun: whether versions are only reported, not removed.
    func collect(
        _ asset: AssetPath, keeping retention: Retention, now: Date, isDryRun: Bool
    ) async throws(Failure) -> Collected
}

extension VersionWriter {
    /// Seals a version without renditions.
    public func seal(
        _ staged: StagedVersion, _ provenance: Provenance, of asset: AssetPath
    ) async throws(Failure) {
        try await seal(staged, provenance, SizeList(), of: asset)
    }
}

/// Originals that arrive over the network.
public protocol OriginalsInbox: Sendable {
    /// Adds an original whose bytes are received as a stream, atomically. An existing original is never replaced.
    ///
    /// - Parameter fill: writes the bytes to a file and returns their digest. It is not called if there is an
    ///   original of that name.
    /// - Throws: `noSpace`, `invalidValue`, `assetOutsideLibrary`, `ioFailure`, `storeUnavailable`; the failure of
    ///   `fill`.
    func receive(
        _ arrival: OriginalArrival,
        _ fill: (OpenFile) async throws(Failure) -> StoredDigest
    ) async throws(Failure) -> ReceivedOriginal
    /// Removes the incomplete originals that crashes have left.
    func sweepArrivals() async throws(Failure)
}

/// Renders that other jobs have made, and the parts of unfinished movies. Nothing depends on them.
public protocol RenderReuse: Sendable {
    /// Requests the right to make the render of a key, without waiting.
    ///
    /// - Parameter staged: the staged version of the job that would render.
    func claim(
        _ key: RenderKey, of asset: AssetPath, for staged: StagedVersion
    ) async throws(Failure) -> RenderClaim
    /// Ends the reuse of a key's render, which was found to be wrong.
    ///
    /// - Parameter key: the key as recorded in a provenance.
    func removeRenderRecord(_ key: String) async throws(Failure)
    /// Removes the entries of renders that no version has any more.
    func removeUnusedRenderRecords() async throws(Failure)

    /// Copies an existing part of a movie into a file.
    ///
    /// - Returns: false if there is no intact part. The content of the file is then undefined.
    func readMoviePart(_ name: MoviePartName, into file: OpenFile) async throws(Failure) -> Bool
    /// Stores a copy of a part for a later worker.
    func keepMoviePart(_ part: OpenFile, as name: MoviePartName) async throws(Failure)
    /// Removes the parts of a movie.
    func removeMovieParts(of render: RenderKey) async throws(Failure)
    /// Removes the parts of movies that were not written for ``MoviePartName/age``.
    func removeOldMovieParts() async throws(Failure)
}

extension RenderReuse {
    /// Offers a reused render from its new version. If another job holds the entry, the source of the render, or that
    /// job's version, suffices.
    public func offer(
        _ key: RenderKey, _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure) {
        guard case .claimed(let entry) = try await claim(key, of: asset, for: staged) else {
            return
        }
        try await entry.offer(version, of: asset, in: staged)
    }
}

/// Inspects the beginning of an incompletely transferred file, given the length of the whole; nil: transfer the
/// rest.
///
/// Its answer must hold for every caller, because others may be waiting for the same bytes.
public typealias BeginningCheck = @Sendable (_ beginning: OpenFile, _ bytes: Int) async -> Failure?

/// The outcome of a claim for the right to make a render.
public enum RenderClaim: Sendable {
    /// This job may make the render, or reuse it if a version has it.
    case claimed(any RenderEntry)
    /// Another job is rendering the same photo with the same recipe.
    case busy
    /// The entry cannot be claimed: an earlier hold of the same job has it and its worker is stuck; or a later
    /// release wrote it.
    case lost
}

/// The right to make the render of a key. Other jobs wait or render without it.
public protocol RenderEntry: Sendable {
    var key: RenderKey { get }
    /// Links the render into a staged version if a version has it. Otherwise records in the entry that this job
    /// makes it.
    ///
    /// - Parameter stem: the name of the render without extension.
    /// - Returns: nil if the photo must be rendered. No remains are left in that case.
    func reuse(as stem: String, into staged: StagedVersion) async throws(Failure) -> RenderedPhoto?
    /// Offers the render of a sealed version, and releases the entry.
    func offer(
        _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure)
}

/// A page of the list of a library's assets.
public struct AssetPage: Sendable, Equatable {
    /// The assets in the byte order of their names.
    public let assets: [AssetPath]
    /// The name after which the list continues; nil on the last page.
    public let next: AssetPath?

    public init(_ assets: [AssetPath], next: AssetPath? = nil) {
        (self.assets, self.next) = (assets, next)
    }
}

/// The record of a version's file in its provenance.
package struct RecordedFile: Sendable, Equatable {
    /// Its path in the version.
    package let name: String
    /// The SHA-256 in hex.
    package let sha256: String
    /// Its length; nil if it is not recorded.
    package let bytes: Int?
    package let mediaType: String?
    /// Its role in the version.
    package let subject: Verification.Subject

    /// Whether it is the file that readers see.
    package var isRender: Bool { subject == .render }

    var folder: String? {
        switch subject {
        case .base, .basePairedVideo: Content.baseFolder
        case .preview: Content.previewsFolder
        default: nil
        }
    }

    /// Returns whether a file has the recorded bytes.
    package func isSame(as found: StoredDigest) -> Bool {
        found.sha256 == sha256 && bytes ?? found.bytes == found.bytes
    }
}

extension Content {
    package var recordedFiles: [RecordedFile] {
        func record(_ image: Image?, _ subject: Verification.Subject) -> [RecordedFile] {
            guard let image else { return [] }
            return [
                RecordedFile(
                    name: image.name, sha256: image.sha256, bytes: image.bytes,
                    mediaType: image.mediaType, subject: subject)
            ]
        }
        let sidecar = RecordedFile(
            name: adjustment.sidecar, sha256: adjustment.sidecarSHA256, bytes: nil,
            mediaType: "application/xml", subject: .adjustmentData)
        let base = base.map { base in
            RecordedFile(
                name: base.name, sha256: base.input.sha256, bytes: nil,
                mediaType: base.input.format == "movie"
                    ? render.mediaType : "image/\(base.input.format)", subject: .base)
        }
        return record(render, .render) + [sidecar] + [base].compactMap(\.self)
            + record(pairedVideo, .pairedVideo)
            + record(self.base?.pairedVideo, .basePairedVideo)
            + previews.flatMap { record($0.image, .preview) }
    }
}

/// A file of a library, independent of the kind of store.
public enum StoredFile: Sendable, Hashable {
    /// A file below the originals: an asset's photo, or a file that an import names.
    case original(AssetPath)
    case layer(AssetPath, version: VersionName, isDraft: Bool, name: String)
    /// A rendition of a version, by ``StoredRendition/file``.
    case rendition(AssetPath, version: VersionName, file: String)

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

/// A file of a version of an asset that is known.
package struct VersionFile: Sendable, Hashable {
    package let version: VersionName
    /// Its path in the version.
    package let file: String

    package init(_ file: String, of version: VersionName) {
        (self.version, self.file) = (version, file)
    }
}

/// The location and length of a stored file.
public struct StoredFileInfo: Sendable, Equatable {
    /// Its path, or its URL.
    public let location: String
    /// Its length; nil if it is missing.
    public let bytes: Int?

    /// Creates a description of a file.
    public init(location: String, bytes: Int?) { (self.location, self.bytes) = (location, bytes) }
}

/// The SHA-256 and length of a stored file.
public struct StoredDigest: Sendable, Equatable {
    /// The SHA-256 of its bytes, in hex.
    public let sha256: String
    /// Its length.
    public let bytes: Int

    public init(sha256: String, bytes: Int) { (self.sha256, self.bytes) = (sha256, bytes) }

    init(_ digest: (hex: String, bytes: Int)) { (sha256, bytes) = (digest.hex, digest.bytes) }
}
