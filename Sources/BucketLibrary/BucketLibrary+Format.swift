public import Adjustments
import BlobStore
import Files
import FoundationEssentials
import Library
import Synchronization

extension BucketLibrary {
    private struct Document: Codable { let format: Int }

    /// The version of a library's layout that this release reads and writes.
    private static let formatWritten = 1
    /// The most bytes of the object.
    private static let documentBytesMax = 4_096

    /// Refuses a library that a later release has created.
    ///
    /// - Parameter isNew: whether a missing library is created. Otherwise a missing library is treated as a mistake
    ///   in its name.
    /// - Throws: `laterFormat`; `damagedVersion` if the format object is invalid; `invalidValue` if there is no
    ///   library; `storeUnavailable`, `ioFailure`.
    public func checkFormat(beginning isNew: Bool) async throws(Failure) {
        let key = try formatKey()
        for _ in 0..<2 {
            if let bytes = try await read(key, atMost: Self.documentBytesMax) {
                return try check(bytes, location(key))
            }
            guard isNew else {
                throw Failure(
                    .invalidValue,
                    "there is no library at \(settings.name): it has no object \(key). Give the URL that the "
                        + "workers are given as --library.")
            }
            do {
                let bytes = Array(try JSONEncoder().encode(Document(format: Self.formatWritten)))
                try await store.put(
                    key, bytes, if: .absent, BlobAttributes(mediaType: "application/json"))
                return
            } catch let error as BlobError {
                // Another worker was faster, or the reply to this write was lost: the object is read again.
                guard [.precondition, .unknownFate].contains(error.code) else {
                    throw error.failure()
                }
            } catch {
                throw Failure(.internalError, "the library's format does not encode: \(error)")
            }
        }
        throw Failure(.ioFailure, "\(location(key)) could neither be read nor written. Try again.")
    }

    /// Checks reading and writing, including on this machine's disk, because a store may support only one of them.
    public func reach() async throws(Failure) {
        let cache = downloads.cache
        try await offPool { () throws(Failure) in
            try self.staging.checkWritable()
            try cache.checkDisk()
        }
        _ = try await read(formatKey(), atMost: Self.documentBytesMax)
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

    private func check(_ bytes: [UInt8], _ location: String) throws(Failure) {
        let format: Int
        do {
            format = try JSONDecoder().decode(Document.self, from: Data(bytes)).format
        } catch {
            throw Failure(
                .damagedVersion,
                "\(location) does not say the library's format: \(error). Restore it."
            )
        }
        guard format <= Self.formatWritten else {
            throw Failure(
                .laterFormat,
                "\(location) has the format \(format); this Minilab reads up to \(Self.formatWritten). A later release "
                    + "made "
                    + "the library: upgrade this one.")
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
}
