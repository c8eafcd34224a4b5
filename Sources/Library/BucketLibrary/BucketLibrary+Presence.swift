package import BlobStore
public import Edits
import Files
import FoundationEssentials
public import Library
import Synchronization

extension BucketLibrary {
    /// Reads the identity of the library, and makes a missing one.
    ///
    /// - Parameter isNew: whether a missing library is created, and a library of an earlier release gets an id.
    ///   Otherwise a missing library is treated as a mistake in its name.
    /// - Throws: `laterFormat`; `damagedVersion` if the object is invalid; `invalidValue` if there is no library;
    ///   `storeUnavailable`, `ioFailure`.
    public func checkFormat(beginning isNew: Bool) async throws(Failure) {
        let key = try keys.library()
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
            let made = LibraryIdentity(hasOriginals: try await hasOriginals())
            if try await write(made, over: found?.tag) { return remember(made) }
        }
        throw Failure(.ioFailure, "\(location(key)) could neither be read nor written. Try again.")
    }

    /// Returns what the bucket contains at the place of a library.
    public func contents() async throws(Failure) -> LibraryFolder.Contents {
        if let found = try await document() {
            return found.identity.map { .library($0) } ?? .unmarked
        }
        if try await hasOriginals() { return .unmarked }
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
        if found.hasOriginals || identity.hasOriginals, try await !hasOriginals() {
            throw identity.absenceOfOriginals(at: "\(settings.name)/\(settings.originalsPrefix)")
        }
        presence.withLock { $0.checked = began }
    }

    /// How long an answer to ``checkPresence()`` is believed.
    private static let presenceTrusted: Duration = .seconds(10)

    /// The presence of library and originals, as this process knows it.
    struct Presence {
        /// Its identity; nil: it is only read, and an earlier release made it.
        var identity: LibraryIdentity?
        /// When it was last seen at its place.
        var checked: ContinuousClock.Instant?
        /// The original that was read last. The store of originals may be unavailable on its own.
        var read: BlobKey?
        /// An original that could not be read because of the store; nil after another one was read.
        var refused: BlobKey?
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
        try await LibraryIdentity.object(try keys.library(), in: store, named: settings.name)
    }

    /// - Parameter tag: that of the object that is replaced; nil: there is none.
    /// - Returns: false if another process was faster, or if the reply was lost: the object is read again.
    private func write(
        _ identity: LibraryIdentity, over tag: BlobTag?
    ) async throws(Failure) -> Bool {
        let (key, bytes) = (try keys.library(), try identity.encoded())
        do throws(BlobError) {
            try await store.put(key, bytes, if: tag.map { .unchanged($0) } ?? .absent, .json)
            return true
        } catch {
            guard [.precondition, .unknownFate].contains(error.code) else { throw error.failure() }
            return false
        }
    }

    /// Whether there is any original. Credentials without the right to list them are believed to have some.
    private func hasOriginals() async throws(Failure) -> Bool {
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
        try await storeCall { () throws(BlobError) in
            _ = try await store.put(BlobKey(LibraryKeys.probeFile), Array("reach".utf8))
        }
        try await reachOriginals()
    }

    /// Checks the originals if one could not be read. It requests a different original, since access to a single
    /// object may be denied.
    private func reachOriginals() async throws(Failure) {
        let seen = presence.withLock { $0 }
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
        if try await originals.find(key) == nil { try await reachBucketOfOriginals(key) }
        presence.withLock { $0.refused = nil }
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
}

extension LibraryIdentity {
    /// Reads the identity of a library in a bucket, and returns whether there is one. That of an earlier release, which has
    /// no id, is one.
    ///
    /// - Parameter name: the library, in messages.
    /// - Throws: `laterFormat`; `damagedVersion` if the object is invalid; `storeUnavailable`, `ioFailure`.
    package static func isThere(
        in store: any BlobStore, named name: String
    ) async throws(Failure) -> Bool {
        let key = try await storeCall { () throws(BlobError) in try BlobKey(fileName) }
        return try await object(key, in: store, named: name) != nil
    }

    /// The object with the identity; nil: there is none.
    fileprivate static func object(
        _ key: BlobKey, in store: any BlobStore, named name: String
    ) async throws(Failure) -> (identity: LibraryIdentity?, tag: BlobTag)? {
        guard let found = try await store.document(key, atMost: bytesMax) else { return nil }
        return (try decoded(found.bytes, at: "\(name)/\(key)"), found.blob.tag)
    }
}
