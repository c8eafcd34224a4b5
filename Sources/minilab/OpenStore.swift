import Adjustments
import ArgumentParser
import BlobStore
import BucketLibrary
import Files
import FoundationEssentials
package import Library
package import Logging
import SystemPackage

/// An opened library in a folder or a bucket.
package struct OpenStore {
    package let library: any CopyableLibrary
    /// The library's name for people: the folder, or the URL without its settings.
    package let name: String
    private let clients: [S3Client]

    /// The purposes of opening a library.
    package enum Use {
        /// Edits. The store's conditional writes are tested first, and a missing library is created.
        case editing
        /// Read-only commands. A missing library is an error, because its name is probably wrong.
        case reading
    }

    /// Opens a library.
    ///
    /// - Throws: a `Failure` or `BlobError` with a remedy: the folder or bucket does not exist, its store ignores
    ///   conditions, credentials are missing or refused.
    package static func open(
        _ location: LibraryLocation, for use: Use, _ logger: Logger
    ) async throws -> OpenStore {
        switch location {
        case .folder(let root, let originals):
            if use == .reading,
                !FileManager.default.fileExists(atPath: root.appending("edits").string)
            {
                throw ValidationError(
                    "there is no library at \(root): it has no folder edits. Give the folder that the "
                        + "workers are given as --library.")
            }
            let library = try FolderLibrary(root: root, originals: originals)
            return OpenStore(library: library, name: library.folder.root.string, clients: [])
        case .bucket(let settings):
            return try await open(settings, for: use, logger)
        }
    }

    private static func open(
        _ settings: BucketSettings, for use: Use, _ logger: Logger
    ) async throws -> OpenStore {
        guard let url = settings.url else {
            throw Failure(.internalError, "a library in a bucket has no URL.")
        }
        Heap.settle()
        for url in [url, settings.originals].compactMap(\.self) where url.sendsInClear {
            logger.warning("\(url): photos travel in clear, use https")
        }
        let (store, originals) = try settings.clients(logger)
        let clients = store === originals ? [store] : [store, originals]
        do {
            if use == .editing { try await store.probe(BlobKey(BucketLibrary.probeFile)) }
            let name = "s3://\(url.bucket)" + (url.prefix.isEmpty ? "" : "/\(url.prefix)")
            var bucket = BucketLibrary.Settings(
                name: name, cacheBytesMax: settings.scratchBytesMax)
            bucket.prefixBytes = url.prefix.isEmpty ? 0 : url.prefix.utf8.count + 1
            bucket.sharesRenders = settings.sharesRenders
            if settings.originals != nil { bucket.originalsPrefix = "" }
            // The ages of objects are measured by the store's clock.
            let clock = store
            bucket.now = { Date(timeIntervalSince1970: Double(clock.now.seconds)) }
            let library = try BucketLibrary(
                store: store, originals: originals, scratch: settings.scratch, bucket)
            try await library.checkFormat(beginning: use == .editing)
            return OpenStore(library: library, name: name, clients: clients)
        } catch {
            for client in clients { await client.close() }
            throw error
        }
    }

    /// Closes the connections.
    package func close() async {
        for client in clients { await client.close() }
    }
}
