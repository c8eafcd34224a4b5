import BlobStore
public import Edits
public import Files
import FoundationEssentials
public import Library
import NIOCore
import Synchronization

extension BucketLibrary {
    /// Reads the identity of the library, and makes a missing one.
    ///
    /// - Parameter isNew: whether a missing library is created, and a library of an earlier release gets an id.
    ///   Otherwise a missing library is treated as a mistake in its name.
    /// - Throws: `laterFormat`; `damagedVersion` if the object is invalid; `invalidValue` if there is no library;
    ///   `storeUnavailable`, `ioFailure`.
    public func checkFormat(beginning isNew: Bool) async throws(Failure) {
        let key = try formatKey()
        for _ in 0..<2 {
            let found = try await document()
            if let found, let identity = found.identity {
                // A reader has no right to record that there are originals.
                return remember(isNew ? identity : identity.withOriginals)
            }
            guard isNew else {
                // A library of an earlier release, which is only read.
                guard found == nil else { return }
                throw Failure(
                    .invalidValue,
                    "there is no library at \(settings.name): it has no object \(key). Give the URL that the "
                        + "workers are given as --library.")
            }
            let made = LibraryIdentity(hasOriginals: try await hasOriginal())
            if try await write(made, over: found?.tag) { return remember(made) }
        }
        throw Failure(.ioFailure, "\(location(key)) could neither be read nor written. Try again.")
    }

    /// Returns what the bucket contains at the place of a library.
    public func contents() async throws(Failure) -> LibraryFolder.Contents {
        if let found = try await document() {
            return found.identity.map { .library($0) } ?? .unmarked
        }
        if try await hasOriginal() { return .unmarked }
        let heads = try await storeCall { () throws(BlobError) in
            try await store.list(LibraryKeys.headPrefix, after: nil)
        }
        return heads.entries.isEmpty ? .nothing : .unmarked
    }

    public var identity: LibraryIdentity? { presence.withLock { $0.identity } }

    /// Trusts an answer of the store for ``presenceTrusted``, because a bucket is not mounted and unmounted.
    public func checkPresence() async throws(Failure) {
        let known = presence.withLock { $0 }
        guard let identity = known.identity else { return }
        if let checked = known.checked, .now - checked < Self.presenceTrusted { return }
        let began = ContinuousClock.now
        let found = try await document()?.identity
        guard let found, found.id == identity.id else {
            throw identity.absence(at: settings.name, found: found)
        }
        if found.hasOriginals || identity.hasOriginals, try await !hasOriginal() {
            throw identity.absenceOfOriginals(at: "\(settings.name)/\(settings.originalsPrefix)")
        }
        presence.withLock { $0.checked = began }
    }

    /// How long an answer to ``checkPresence()`` is believed.
    private static let presenceTrusted: Duration = .seconds(10)

    /// The presence of the library, as this process knows it.
    struct Presence {
        /// Its identity; nil: it is only read, and an earlier release made it.
        var identity: LibraryIdentity?
        /// When it was last seen at its place.
        var checked: ContinuousClock.Instant?
    }

    /// Records that the library has originals, once.
    func noteOriginals() async {
        let noted = presence.withLock { presence -> LibraryIdentity? in
            guard let identity = presence.identity, !identity.hasOriginals else { return nil }
            presence.identity = identity.withOriginals
            return presence.identity
        }
        guard let noted else { return }
        do throws(Failure) {
            guard let found = try await document(), found.identity?.id == noted.id,
                found.identity?.hasOriginals == false
            else { return }
            _ = try await write(noted, over: found.tag)
        } catch {
            // The next process that opens an original records it; until then this one knows.
        }
    }

    private func remember(_ identity: LibraryIdentity) {
        presence.withLock { $0.identity = identity }
    }

    /// The object with the library's identity; nil: there is none.
    private func document() async throws(Failure) -> (identity: LibraryIdentity?, tag: BlobTag)? {
        let key = try formatKey()
        let found: BlobBytes
        do throws(BlobError) {
            found = try await store.bytes(
                key, nil, ifMatch: nil, atMost: LibraryIdentity.bytesMax)
        } catch {
            if error.code == .notFound { return nil }
            throw error.failure()
        }
        return (try LibraryIdentity.decoded(found.bytes, at: location(key)), found.blob.tag)
    }

    /// - Parameter tag: that of the object that is replaced; nil: there is none.
    /// - Returns: false if another process was faster, or if the reply was lost: the object is read again.
    private func write(
        _ identity: LibraryIdentity, over tag: BlobTag?
    ) async throws(Failure) -> Bool {
        let (key, bytes) = (try formatKey(), try identity.encoded())
        do throws(BlobError) {
            try await store.put(
                key, bytes, if: tag.map { .unchanged($0) } ?? .absent,
                BlobAttributes(mediaType: "application/json"))
            return true
        } catch {
            guard [.precondition, .unknownFate].contains(error.code) else { throw error.failure() }
            return false
        }
    }

    /// Whether there is any original. Credentials without the right to list them are believed to have some.
    private func hasOriginal() async throws(Failure) -> Bool {
        do throws(BlobError) {
            return try await !originals.list(settings.originalsPrefix, after: nil).entries.isEmpty
        } catch {
            guard error.code == .denied else { throw error.failure() }
            return true
        }
    }

    /// Checks reading and writing, including on this machine's disk, because a store may support only one of them.
    public func reach() async throws(Failure) {
        let cache = downloads.cache
        try await offPool { () throws(Failure) in
            try self.staging.checkWritable()
            try cache.checkDisk()
        }
        presence.withLock { $0.checked = nil }
        if identity == nil { _ = try await document() } else { try await checkPresence() }
        do throws(BlobError) {
            try await store.put(BlobKey(LibraryKeys.probeFile), Array("reach".utf8))
        } catch {
            throw error.failure()
        }
        try await reachOriginals()
    }

    /// Checks the originals if one could not be read. It requests a different original, since access to a single
    /// object may be denied.
    private func reachOriginals() async throws(Failure) {
        let seen = originalsSeen.withLock { $0 }
        guard let refused = seen.refused else { return }
        var key = seen.read ?? refused
        if key == refused {
            do throws(BlobError) {
                let page = try await originals.list(keys.originalsPrefix, after: nil)
                key = page.entries.map(\.key).last { $0 != refused } ?? refused
            } catch {
                // Credentials without the right to list may have the right to read.
                guard error.code == .denied else { throw error.failure() }
            }
        }
        do throws(BlobError) {
            _ = try await originals.head(key)
        } catch {
            guard error.code == .notFound else { throw error.failure() }
            try await reachBucketOfOriginals(key)
        }
        originalsSeen.withLock { $0.refused = nil }
    }

    /// Requests an object that does not exist. HEAD cannot reveal that the whole bucket is missing, because its
    /// reply has no body.
    private func reachBucketOfOriginals(_ missing: BlobKey) async throws(Failure) {
        do throws(BlobError) {
            _ = try await originals.bytes(missing, 0..<1, ifMatch: nil, atMost: 1)
        } catch {
            guard error.code == .notFound || error.code == .invalid else { throw error.failure() }
        }
    }

    private func formatKey() throws(Failure) -> BlobKey {
        do throws(BlobError) { return try BlobKey(LibraryKeys.libraryFile) } catch {
            throw error.failure()
        }
    }

    /// Returns all bytes of a small object; nil if it is missing.
    func read(_ key: BlobKey, atMost count: Int) async throws(Failure) -> [UInt8]? {
        do throws(BlobError) {
            return try await store.bytes(key, nil, ifMatch: nil, atMost: count).bytes
        } catch {
            if error.code == .notFound { return nil }
            throw error.failure()
        }
    }

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
