public import Edits
import BlobStore
public import Files
import FoundationEssentials
public import Library
import NIOCore
import Synchronization

extension BucketLibrary {
    public func open(
        _ file: StoredFile, _ check: BeginningCheck?
    ) async throws(Failure) -> OpenFile {
        switch file {
        case .original(let asset): try await openOriginal(of: asset, check)
        case .layer(let asset, let version, _, let name):
            try await openLayer(name, of: version, asset)
        }
    }

    private func openOriginal(
        of asset: AssetPath, _ check: BeginningCheck?
    ) async throws(Failure) -> OpenFile {
        let key = try keys.original(of: asset)
        do throws(Failure) {
            let file = try await openOriginal(of: asset, key, check)
            originalsSeen.withLock { $0 = OriginalsSeen(read: key) }
            await noteOriginals()
            return file
        } catch {
            if error.code == .storeUnavailable {
                originalsSeen.withLock { $0.refused = key }
            }
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
            let found: Blob?
            do throws(BlobError) {
                found = try await originals.head(key)
            } catch {
                // HEAD does not reveal that the whole bucket is missing; the read below does.
                guard error.code == .notFound else { throw error.failure() }
                found = nil
            }
            if found?.tag == known.tag { return try downloads.cache.open(lease, name: name) }
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
        let (key, recorded) = try await (
            realKey(file, of: version, asset), record(version, asset)?.content?.record(of: file)
        )
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
        do throws(BlobError) {
            return StoredFileInfo(location: location(key), bytes: try await store.head(key).size)
        } catch {
            guard error.code == .notFound else { throw error.failure() }
            return StoredFileInfo(location: location(key), bytes: nil)
        }
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

    public func link(
        to file: StoredFile, for time: Duration
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
        }
    }

    /// Returns the object with a file's bytes.
    func realKey(
        _ file: String, of version: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> BlobKey {
        let target = try await links(of: version, asset).resolve(file, of: version)
        return try keys.file(target.file, of: target.version, asset)
    }
}
