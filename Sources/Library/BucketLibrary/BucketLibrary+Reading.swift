public import Edits
import BlobStore
public import Files
import FoundationEssentials
public import Library
import NIOCore
import PhotoFiles
import Synchronization

/// Reading versions.
extension BucketLibrary {
    public func state(of asset: AssetPath) async throws(Failure) -> AssetState {
        try await state(head(of: asset), asset)
    }

    public func provenance(
        of name: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> Provenance? {
        func isListed(_ head: AssetHead) -> Bool {
            head.history.contains { $0.version == name.description }
        }
        // A version of a cached head may have been collected since; its objects still exist.
        if let head = heads[ExactName(asset)]?.head, isListed(head) {
            return try await record(name, asset)
        }
        let head = try await head(of: asset).head
        if isListed(head) { return try await record(name, asset) }
        guard head.mayHave(older: name), let version = try await record(name, asset),
            !version.isDraft
        else { return nil }
        return version
    }

    public func history(of asset: AssetPath) async throws(Failure) -> [Provenance] {
        let tagged = try await head(of: asset)
        _ = try await state(tagged, asset)
        let names = tagged.head.history.compactMap { VersionName($0.version) }
        let listed = try await concurrentMap(names, atOnce: Self.requestsAtOnce) {
            name throws(Failure) in
            try await self.record(name, asset)
        }
        // A missing version was collected after its head was read.
        let known = listed.prefix { $0 != nil }.compactMap(\.self)
        guard known.count == names.count else { return known }
        return known + (try await older(tagged.head, asset))
    }

    public func assets(after: AssetPath?) async throws(Failure) -> AssetPage {
        try await assets(
            LibraryKeys.headPrefix,
            after: after.map { asset throws(Failure) in try keys.head(of: asset) },
            keys.asset(ofHead:))
    }

    /// Includes assets that no head names, because a job ended between its first version and the head.
    public func storedAssets(after: AssetPath?) async throws(Failure) -> AssetPage {
        try await assets(
            LibraryKeys.versionsFolder,
            after: after.map { asset throws(Failure) in try keys.end(ofVersionsOf: asset) },
            keys.asset(ofVersion:))
    }

    /// Returns the assets of the next page of keys with a prefix that is not only of objects of other programs.
    private func assets(
        _ prefix: String, after first: BlobKey?, _ asset: (BlobKey) -> AssetPath?
    ) async throws(Failure) -> AssetPage {
        var assets: [AssetPath] = []
        var isLast = true
        try await store.pages(prefix, after: first) { page throws(Failure) in
            for found in page.entries.compactMap({ asset($0.key) }) where found != assets.last {
                assets.append(found)
            }
            isLast = page.next == nil
            return assets.isEmpty
        }
        return AssetPage(assets, next: isLast ? nil : assets.last)
    }

    /// Checks only lengths, because objects cannot collide.
    public func checkEntries(of asset: AssetPath) async throws(Failure) {
        try keys.check(asset)
    }
}

/// Reading files.
extension BucketLibrary {
    public func open(
        _ file: StoredFile, _ check: BeginningCheck?
    ) async throws(Failure) -> OpenFile {
        switch file {
        case .original(let asset): try await openOriginal(of: asset, check)
        case .layer(let asset, let version, _, let name):
            try await openLayer(name, of: version, asset)
        case .rendition(let asset, let version, let file):
            try await openRendition(file, of: version, asset)
        }
    }

    private func openOriginal(
        of asset: AssetPath, _ check: BeginningCheck?
    ) async throws(Failure) -> OpenFile {
        let key = try keys.original(of: asset)
        do throws(Failure) {
            let file = try await openOriginal(of: asset, key, check)
            presence.withLock { ($0.read, $0.refused) = (key, nil) }
            await noteOriginals()
            return file
        } catch {
            if error.code == .storeUnavailable { presence.withLock { $0.refused = key } }
            throw error
        }
    }

    private func openOriginal(
        of asset: AssetPath, _ key: BlobKey, _ check: BeginningCheck?
    ) async throws(Failure) -> OpenFile {
        let name = location(key)
        // A lease, because the folder may be cleaned up at any time.
        if let known = originalDigests[ExactName(asset)],
            let lease = downloads.cache.lease(known.sha256)
        {
            // HEAD does not reveal that the whole bucket is missing; the read below does.
            if try await originals.find(key)?.tag == known.tag {
                return try downloads.cache.open(lease, name: name)
            }
        }
        let arrival = try await downloads.bring(
            "original:\(key)",
            ScratchDownloads.Order(
                store: originals, key: key, name: name, missing: .missingAsset, check: check))
        originalDigests.set(
            ExactName(asset), (tag: arrival.tag, sha256: arrival.lease.sha256))
        return try downloads.cache.open(arrival.lease, name: name)
    }

    private func openLayer(
        _ file: String, of version: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> OpenFile {
        let key = try await realKey(file, of: version, asset)
        let recorded = try await record(version, asset)?.content?.recordedFiles.first {
            $0.name == file
        }
        let name = location(key)
        if let recorded, let lease = downloads.cache.lease(recorded.sha256) {
            return try downloads.cache.open(lease, name: name)
        }
        let arrival = try await downloads.bring(
            "layer:\(key)",
            ScratchDownloads.Order(
                store: store, key: key, name: name, sha256: recorded?.sha256,
                bytes: recorded?.bytes,
                missing: .damagedVersion))
        return try downloads.cache.open(arrival.lease, name: name)
    }

    public func info(of file: StoredFile) async throws(Failure) -> StoredFileInfo {
        let (store, key) = try await object(of: file)
        return StoredFileInfo(location: location(key), bytes: try await store.find(key)?.size)
    }

    public func digest(
        of file: StoredFile, isRead: Bool
    ) async throws(Failure) -> StoredDigest? {
        let (store, key) = try await object(of: file)
        return try await digest(of: key, in: store, isRead: isRead)
    }

    /// Returns the SHA-256 and length of an object; nil if it is missing. Bytes that are read are not cached.
    func digest(
        of key: BlobKey, in store: any BlobStore, isRead: Bool
    ) async throws(Failure) -> StoredDigest? {
        do throws(BlobError) {
            let found = try await store.head(key)
            if let reported = found.digest, !isRead {
                return StoredDigest(sha256: reported.hex, bytes: found.size)
            }
            var hash = SHA256()
            try await store.get(key, nil, ifMatch: found.tag) { piece in
                piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
            }
            return StoredDigest(
                sha256: BlobDigest(hash.finalize()).hex, bytes: found.size)
        } catch {
            guard error.code == .notFound else { throw error.failure() }
            return nil
        }
    }

    public func path(of file: StoredFile) async throws(Failure) -> String {
        try await object(of: file).key.text
    }

    public func url(
        of file: StoredFile, for time: Duration
    ) async throws(Failure) -> JobEvent.Link? {
        let (store, key) = try await object(of: file)
        let link = try await storeCall { () throws(BlobError) in
            try await store.link(key, for: time)
        }
        let expires = Date(timeIntervalSince1970: Double(link.expires.seconds))
        return JobEvent.Link(url: link.url, expires: expires.formatted(.iso8601))
    }

    /// Returns the name of a file in messages.
    func location(of file: StoredFile) async throws(Failure) -> String {
        location(try await object(of: file).key)
    }

    private func object(
        of file: StoredFile
    ) async throws(Failure) -> (store: any BlobStore, key: BlobKey) {
        switch file {
        case .original(let asset): (originals, try keys.original(of: asset))
        case .layer(let asset, let version, _, let name):
            (store, try await realKey(name, of: version, asset))
        case .rendition(let asset, let version, let file):
            (store, try keys.size(file, of: version, asset))
        }
    }

    /// Returns the object with a file's bytes.
    func realKey(
        _ file: String, of version: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> BlobKey {
        let target = try await links(of: version, asset).resolve(file, of: version)
        return try keys.file(target.file, of: target.version, asset)
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
        try await originals.pages(prefix) { page throws(Failure) in
            found += page.entries.filter { candidates.contains(ExactName($0.key.text)) }
            // The candidates end before this key: "`" is the next byte after `_`.
            return page.next?.text.utf8.lexicographicallyPrecedes((prefix + "`").utf8) ?? false
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
