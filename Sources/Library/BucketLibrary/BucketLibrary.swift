public import BlobStore
public import Edits
import Files
public import FoundationEssentials
public import Library
import Synchronization
public import SystemPackage

/// A library in a bucket of an object store.
///
/// Each asset has one object that changes, its head. All other objects are written once, at keys that contain the
/// fence. A commit is one conditional write of the head (``AssetHead``). A worker downloads the objects that it
/// needs to its scratch folder (``ScratchCache``). The files that it makes stay there until the version is sealed,
/// which uploads them. From then on any worker can publish it.
///
/// Rendering a photo takes six requests: GET of head and original, PUT of render, sidecar, provenance and head.
public final class BucketLibrary: LibraryStore {
    let store: any BlobStore
    let originals: any BlobStore
    let keys: LibraryKeys
    let settings: Settings
    public let staging: Staging
    public let isElsewhere = true
    let downloads: ScratchDownloads

    /// The most recently read heads, which save a read before a commit.
    let heads = BoundedCache<ExactName, TaggedHead>(costMax: headBytesMax)
    /// Provenances and links, which never change.
    let provenances = BoundedCache<VersionKey, Provenance>(costMax: provenanceBytesMax)
    let links = BoundedCache<VersionKey, VersionLinks>(costMax: recordsMax)
    /// The contents of originals that were downloaded.
    let originalDigests = BoundedCache<ExactName, (tag: BlobTag, sha256: String)>(
        costMax: recordsMax)
    /// The versions that this process has sealed and not published yet.
    let sealed = BoundedCache<VersionKey, FreshVersion>(costMax: provenanceBytesMax)
    /// Whether library and originals are at their places.
    let presence = Mutex(Presence())
    /// The keys of renders that were found to be wrong.
    let wrongRenders = BoundedCache<String, Bool>(costMax: recordsMax)

    /// The most bytes of cached heads, in their encoded form; most heads have some kilobytes.
    private static let headBytesMax = 16 << 20
    /// The most bytes of cached provenances, in their encoded form.
    private static let provenanceBytesMax = 16 << 20
    /// The most cached small records of each kind.
    private static let recordsMax = 4_096
    /// The key, below the library, of an object that belongs to no asset. Probes write it to test the store.
    public static let probeFile = LibraryKeys.probeFile
    /// Another one, below the dead jobs. Whoever reads these passes over it.
    public static let deadProbeFile = LibraryKeys.deadPrefix + "probe"

    /// The most requests that one call sends at the same time.
    static let requestsAtOnce = 4

    /// The location of a library, and the resources of this machine that it may use.
    public struct Settings: Sendable {
        /// The name of the location in messages and lists, such as `s3://bucket/prefix`, without a slash at its end.
        public var name: String
        /// The length of the prefix that the store adds to every key, including its slash.
        public var prefixBytes = 0
        /// The prefix of an original's path in the store of originals; empty, or with a slash at its end.
        public var originalsPrefix = "originals/"
        /// Whether renders are also reused from other assets, and offered to them.
        public var sharesRenders = false
        /// The most bytes of downloads in the scratch folder.
        public var cacheBytesMax: Int
        /// The clock for the grace periods before removal.
        public var now: @Sendable () -> Date = { Date() }

        /// Creates settings with defaults for everything else.
        public init(name: String, cacheBytesMax: Int) {
            self.name = name
            self.cacheBytesMax = cacheBytesMax
        }
    }

    /// Creates a library. The store must support conditional writes: probe it first.
    ///
    /// - Parameters:
    ///   - store: the store of heads and versions.
    ///   - originals: the store of originals; may be the same.
    ///   - scratch: a folder of this machine, for downloads and staged versions.
    /// - Throws: `ioFailure`, `noSpace` if the folder cannot be used.
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

    struct VersionKey: Hashable, Sendable {
        private let asset: ExactName
        private let name: VersionName

        init(asset: AssetPath, name: VersionName) {
            (self.asset, self.name) = (ExactName(asset), name)
        }
    }

    /// Returns the name of an object in messages.
    func location(_ key: BlobKey) -> String { "\(settings.name)/\(key)" }

    public var clock: Date { settings.now() }

    /// The present time, in seconds since 1970.
    var now: Int { Int(settings.now().timeIntervalSince1970) }
}
