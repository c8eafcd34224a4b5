public import BlobStore
public import Edits
public import Files
public import FoundationEssentials
public import Library
import PhotoFiles
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
    /// The originals that were read and refused last.
    let originalsSeen = Mutex(OriginalsSeen())
    /// Whether the library is at its place.
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

    /// The latest results of reading originals, whose store may be unavailable on its own.
    struct OriginalsSeen {
        /// An original that was read.
        var read: BlobKey?
        /// An original that could not be read because of the store; nil after another one was read.
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

    /// Returns the name of an object in messages.
    func location(_ key: BlobKey) -> String { "\(settings.name)/\(key)" }

    public var clock: Date { settings.now() }

    /// The present time, in seconds since 1970.
    var now: Int { Int(settings.now().timeIntervalSince1970) }
}

/// Parts of movies that are being rendered, as objects that the store compares with their digests.
extension BucketLibrary {
    public func readMoviePart(
        _ name: MoviePartName, into file: OpenFile
    ) async throws(Failure) -> Bool {
        let key = try keys.moviePart(name)
        try await offPool { () throws(Failure) in try file.cut(to: 0) }
        var download: (writer: RangeWriter, found: Blob)
        do throws(BlobError) {
            let found = try await store.head(key)
            var writer = RangeWriter(file, 0..<found.size, isDigested: true)
            try await writer.read(from: store, key, nil, ifMatch: found.tag)
            download = (writer, found)
        } catch {
            // Collected or replaced in the meantime.
            if error.code == .notFound || error.code == .changed { return false }
            throw error.failure()
        }
        try await download.writer.flush()
        return download.found.digest.map { $0.hex == download.writer.digest } ?? true
    }

    public func keepMoviePart(_ part: OpenFile, as name: MoviePartName) async throws(Failure) {
        let key = try keys.moviePart(name)
        let (hex, length) = try await offPool { () throws(Failure) in
            try FileDigest.sha256(of: part)
        }
        guard let digest = BlobDigest(hex: hex) else {
            throw Failure(.internalError, "a digest is \(hex.debugDescription).")
        }
        try await repeatably { () throws(BlobError) in
            try await self.store.put(
                key, .file(SystemPackage.FileDescriptor(rawValue: part.descriptor), size: length),
                digest: digest, if: .always,
                BlobAttributes(mediaType: "application/octet-stream"))
        }
        withExtendedLifetime(part) {}
    }

    public func removeMovieParts(of render: RenderKey) async throws(Failure) {
        try await removeObjects(keys.moviePartsPrefix(of: render)) { _ in true }
    }

    public func removeOldMovieParts() async throws(Failure) {
        let newest = now - MoviePartName.age
        try await removeObjects(LibraryKeys.moviePartsPrefix) { entry in
            entry.modified.map { $0.seconds < newest } ?? false
        }
    }

    /// The most bytes that one read of a movie's boxes requests.
    private static let readBytes = 64 << 10
    /// The most reads of one movie.
    private static let readsMax = 24

    /// Lists the objects with the asset's stem once, then reads small ranges of the videos among them.
    public func pairedVideos(of asset: AssetPath) async throws(Failure) -> [PairedVideo] {
        let stem = Self.stem(of: asset)
        let prefix = keys.originalsPrefix + stem
        let candidates = Set(PairedVideo.endings.map { ExactName(prefix + $0) })
        var found: [BlobPage.Entry] = []
        var last: BlobKey?
        while true {
            let start = last
            let page = try await storeCall { () throws(BlobError) in
                try await self.originals.list(prefix, after: start)
            }
            found += page.entries.filter { candidates.contains(ExactName($0.key.text)) }
            // The candidates end before this key: "`" is the next byte after `_`.
            guard let next = page.next,
                next.text.utf8.lexicographicallyPrecedes((prefix + "`").utf8)
            else { break }
            last = next
        }
        var videos: [PairedVideo] = []
        for ending in PairedVideo.endings {
            let key = ExactName(prefix + ending)
            guard let entry = found.first(where: { ExactName($0.key.text) == key }) else {
                continue
            }
            videos.append(
                PairedVideo(
                    path: try AssetPath(stem + ending),
                    contentIdentifier: try await identifier(of: entry)))
        }
        return videos
    }

    private static func stem(of asset: AssetPath) -> String {
        guard let slash = asset.string.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            return asset.stem
        }
        return String(decoding: asset.string.utf8[...slash], as: UTF8.self) + asset.stem
    }

    /// Returns the content identifier of a movie. Its boxes are parsed repeatedly, each time with the bytes that
    /// were missing before.
    private func identifier(of movie: BlobPage.Entry) async throws(Failure) -> String? {
        var known: [Int: [UInt8]] = [:]
        for _ in 0..<Self.readsMax {
            var missed: Range<Int>?
            let file = FileWindow(length: movie.size) { offset, count in
                let range = offset..<min(movie.size, offset + count)
                for (start, bytes) in known
                where start <= range.lowerBound && range.upperBound <= start + bytes.count {
                    return Array(bytes[range.lowerBound - start..<range.upperBound - start])
                }
                if missed == nil { missed = range }
                return []
            }
            let identifier = MovieIdentifier.identifier(in: file)
            guard let range = missed else { return identifier }
            let wanted =
                range
                .lowerBound..<min(movie.size, range.lowerBound + max(range.count, Self.readBytes))
            known[range.lowerBound] = try await storeCall { () throws(BlobError) in
                try await self.originals.bytes(
                    movie.key, wanted, ifMatch: movie.tag, atMost: wanted.count)
            }.bytes
        }
        return nil
    }
}

/// References to files of a staged version that are already in the bucket: a small note in the staged folder
/// records the location of each.
extension BucketLibrary {
    /// The folder of the notes.
    private static let folderName = ".links"
    /// The most bytes of a note: the longest asset and file, escaped.
    private static let noteBytesMax = 16 << 10

    /// A reference to a file in the bucket.
    struct Note: Sendable, Codable, Equatable {
        let asset: AssetPath
        /// The version that owns the file.
        let version: String
        /// The path of the file in that version.
        let file: String
        /// The tag of the referenced content; nil if any content is valid, since versions do not change.
        var tag: String?
    }

    /// Copies the bytes of an original to the staged version. For a file of a version it writes only a note.
    public func link(
        _ file: StoredFile, as name: String, into staged: StagedVersion
    ) async throws(Failure) {
        switch file {
        case .original:
            let source = try await open(file)
            try await offPool { () throws(Failure) in
                _ = try self.staging.copy(source, as: name, into: staged, bytesMax: .max)
            }
        case .layer(let asset, let version, _, let path):
            let target = try await links(of: version, asset).resolve(path, of: version)
            let note = Note(asset: asset, version: target.version.description, file: target.file)
            try await offPool { () throws(Failure) in
                try self.write(note, as: name, into: staged)
            }
        }
    }

    /// Records the location of a staged version's file.
    func write(
        _ note: Note, as name: String, into staged: StagedVersion
    ) throws(Failure) {
        let path = staging.folder(of: staged).appending(Self.folderName).pushing(FilePath(name))
        let bytes: Data
        do {
            bytes = try JSONEncoder().encode(note)
        } catch {
            throw Failure(.internalError, "the note of a link does not encode: \(error)")
        }
        try staging.files.makeFolder(path.removingLastComponent())
        try staging.files.remove(path)
        try staging.files.write(bytes, to: path)
    }

    /// Removes the note of a file.
    func unlink(_ name: String, of staged: StagedVersion) throws(Failure) {
        try staging.files.remove(
            staging.folder(of: staged).appending(Self.folderName).pushing(FilePath(name)))
    }

    /// Returns the note of a file; nil if the staged folder has its bytes.
    func note(of name: String, _ staged: StagedVersion) throws(Failure) -> Note? {
        let folder = staging.folder(of: staged).appending(Self.folderName)
        guard try staging.files.exists(folder.pushing(FilePath(name))) else { return nil }
        let bytes = try staging.files.read(name, in: folder, bytesMax: Self.noteBytesMax)
        do {
            return try JSONDecoder().decode(Note.self, from: Data(bytes))
        } catch {
            throw Failure(
                .ioFailure,
                "the note of \(name) in \(folder) is damaged: \(error). The job is retried.")
        }
    }
}
