import Edits
import BlobStore
import BucketLibrary
import Files
import FoundationEssentials
package import JobQueue
package import Library
package import Logging
import Operations
import Redis
import SystemPackage

/// An opened library in a folder or a bucket.
package struct OpenStore {
    package let library: any CopyableLibrary
    /// The library's name for people: the folder, or the URL without its settings.
    package let name: String
    private let clients: [S3Client]

    package enum Use {
        /// Edits of the jobs of a queue. A place without a library is refused: it may be a wrong name, or the mount point
        /// of a disk. Originals or versions without an identity become a library when the queue has none yet.
        case queue(QueueConnection)
        /// An explicit first use: a missing library is created.
        case creating
        /// Read-only commands. A missing library is an error, because its name is probably wrong.
        case reading

        var isReading: Bool { if case .reading = self { true } else { false } }
    }

    /// The library as a queue knows it; nil: it has no identity.
    package var ofQueue: QueueLibrary? {
        library.identity.map { QueueLibrary(id: $0.id, name: name) }
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
            if use.isReading,
                !FileManager.default.fileExists(atPath: root.appending("edits").string)
            {
                throw CommandError(
                    "there is no library at \(root): it has no folder edits. Give the folder that the "
                        + "workers are given as --library.")
            }
            try await check(root.string, for: use, logger) { try LibraryFolder.contents(of: root) }
            let library = try LibraryFolder(
                root: root, originals: originals, isRead: use.isReading)
            return OpenStore(library: library, name: library.root.string, clients: [])
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
            if !use.isReading { try await store.probe(BlobKey(BucketLibrary.probeFile)) }
            let name = settings.name
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
            try await check(name, for: use, logger) { try await library.contents() }
            try await library.checkFormat(beginning: !use.isReading)
            return OpenStore(library: library, name: name, clients: clients)
        } catch {
            for client in clients { await client.close() }
            throw error
        }
    }

    /// Refuses a place that is no library, or not the queue's.
    private static func check(
        _ place: String, for use: Use, _ logger: Logger,
        _ contents: () async throws -> LibraryFolder.Contents
    ) async throws {
        guard case .queue(let connection) = use else { return }
        let redis = RedisClient(connection.redis, logger: logger)
        do {
            try await LibraryPlace.check(place, for: connection.name, contents: contents) {
                try await JobQueue(name: connection.name, redis: redis).library()
            }
        } catch {
            await redis.close()
            throw error
        }
        await redis.close()
    }

    package func close() async {
        for client in clients { await client.close() }
    }
}
