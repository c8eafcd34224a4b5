public import Adjustments
public import BlobStore
import Files
public import FoundationEssentials
public import Library
import Synchronization
public import SystemPackage

/// A library in a bucket of an object store.
///
/// One object per asset changes, its head; everything else is written once, at keys with the fence in them. A commit is one
/// conditional write of the head (``AssetHead``). What a worker needs of an object is downloaded to its scratch folder
/// (``ScratchCache``); what it makes lies there until it is sealed, which uploads it. From then on any worker can
/// publish it.
///
/// A photo that is rendered takes six requests: GET of head and original, PUT of render, sidecar, provenance and head.
public final class BucketLibrary: LibraryStore {
    let store: any BlobStore
    let originals: any BlobStore
    let keys: LibraryKeys
    let settings: Settings
    public let staging: Staging
    public let isElsewhere = true
    let downloads: ScratchDownloads

    /// Heads as they were read last, so that a commit need not read again.
    let heads = BoundedCache<ExactName, HeldHead>(costMax: headBytesMax)
    /// Provenances and links, which never change.
    let provenances = BoundedCache<VersionKey, Provenance>(costMax: provenanceBytesMax)
    let links = BoundedCache<VersionKey, VersionLinks>(costMax: recordsMax)
    /// The contents of originals that were downloaded.
    let originalDigests = BoundedCache<ExactName, (tag: BlobTag, sha256: String)>(
        costMax: recordsMax)
    /// Versions that this process has sealed and not published yet.
    let sealed = BoundedCache<VersionKey, FreshVersion>(costMax: provenanceBytesMax)
    /// The originals that were read and refused last.
    let originalsSeen = Mutex(OriginalsSeen())
    /// Keys of renders that were found to be wrong.
    let wrongRenders = BoundedCache<String, Bool>(costMax: recordsMax)

    /// Most bytes of heads that are remembered, as they are written; most have some kilobytes.
    private static let headBytesMax = 16 << 20
    /// Most bytes of provenances that are remembered, as they are written.
    private static let provenanceBytesMax = 16 << 20
    /// Most small records of a kind that are remembered.
    private static let recordsMax = 4_096
    /// The key, below the library, of an object that is nobody's: for questions whether the store writes.
    public static let probeFile = LibraryKeys.probeFile

    /// Most requests that one call makes at one time.
    static let requestsAtOnce = 4

    /// Where a library is, and what it may use of this machine.
    public struct Settings: Sendable {
        /// How sentences and lists call the place of keys, such as `s3://bucket/prefix`, without a slash at its end.
        public var name: String
        /// The bytes that the store puts before every key, its slash counted.
        public var prefixBytes = 0
        /// Before an original's path in the store of originals; empty, or with a slash at its end.
        public var originalsPrefix = "originals/"
        /// Whether renders are taken over from other assets too, and offered to them.
        public var sharesRenders = false
        /// The most bytes of downloads in the scratch folder.
        public var cacheBytesMax: Int
        /// The clock for the grace of what is removed.
        public var now: @Sendable () -> Date = { Date() }

        /// Settings; all others as their defaults say.
        public init(name: String, cacheBytesMax: Int) {
            self.name = name
            self.cacheBytesMax = cacheBytesMax
        }
    }

    /// A library whose store keeps conditions: probe it before.
    ///
    /// - Parameters:
    ///   - store: has heads and versions.
    ///   - originals: has the originals; may be the same.
    ///   - scratch: a folder of this machine, for downloads and for versions in the making.
    /// - Throws: `ioFailure`, `noSpace` when the folder cannot be used.
    public init(
        store: any BlobStore, originals: any BlobStore, scratch: FilePath, _ settings: Settings
    ) throws(Failure) {
        self.store = store
        self.originals = originals
        self.settings = settings
        keys = LibraryKeys(
            originalsPrefix: settings.originalsPrefix, prefixBytes: settings.prefixBytes)
        let files = FileSystem()
        try files.makeFolder(scratch.appending("staging"))
        staging = Staging(root: scratch, files: files)
        downloads = ScratchDownloads(
            try ScratchCache(scratch: scratch, bytesMax: settings.cacheBytesMax))
    }

    /// Signs of life of the store of the originals, which may be away alone.
    struct OriginalsSeen {
        /// One that was read.
        var read: BlobKey?
        /// One that could not be read because of the store; nil once another one could.
        var refused: BlobKey?
    }

    /// A version of an asset.
    struct VersionKey: Hashable, Sendable {
        private let asset: ExactName
        private let name: VersionName

        init(asset: AssetPath, name: VersionName) {
            (self.asset, self.name) = (ExactName(asset), name)
        }
    }

    /// How sentences call an object.
    func place(_ key: BlobKey) -> String { "\(settings.name)/\(key)" }

    public var clock: Date { settings.now() }

    /// The moment, in seconds since 1970.
    var now: Int { Int(settings.now().timeIntervalSince1970) }
}
