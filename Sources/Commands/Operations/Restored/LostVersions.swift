import Edits
package import JobQueue
package import Library
package import Redis

/// Jobs that the queue has told to be published, and whose versions the library does not have: it was restored from a backup that is
/// older than the queue.
///
/// The queue's events are compared with the library; ``KeptRevisions`` decides.
package struct LostVersions: Sendable {
    /// In the order in which they were told; no more than the events that the queue keeps.
    package private(set) var jobs: [LostJob] = []
    /// The number of assets that were compared.
    package private(set) var assets = 0

    /// The most versions of an asset that are kept of its events: older ones are below those that are compared.
    private static let toldMax = 64

    /// Compares what the events of a queue tell with a library.
    ///
    /// - Throws: `QueueError`; the failures of reading the library.
    package init(
        of queue: QueueName, _ redis: RedisClient, in library: any LibraryReader
    ) async throws {
        // One that is away lacks everything.
        try await library.checkPresence()
        var told: [String: [KeptRevisions.Told]] = [:]
        var order: [String] = []
        var reader = EventReader(queue: queue, redis: redis)
        while true {
            let entries: [EventReader.Entry]
            do throws(QueueError) {
                entries = try await reader.next()
            } catch {
                guard error.code == .unreadableEvent else { throw error }
                continue  // of a later release, or of another program
            }
            if entries.isEmpty { break }
            for case .completed(let data) in entries.map(\.event.data) {
                if told[data.asset] == nil { order.append(data.asset) }
                told[data.asset, default: []].append(
                    KeptRevisions.Told(job: data.job, version: data.version.id))
                if told[data.asset]?.count ?? 0 > Self.toldMax { told[data.asset]?.removeFirst() }
            }
        }
        for name in order {
            guard let versions = told[name] else { continue }
            assets += 1
            jobs += try await Self.lost(of: versions, AssetPath(name), in: library)
        }
    }

    private static func lost(
        of told: [KeptRevisions.Told], _ asset: AssetPath, in library: any LibraryReader
    ) async throws(Failure) -> [LostJob] {
        let current = try await library.state(of: asset).current
        // Mostly the current version lists all that were told.
        let listed = Set(current?.published?.map(\.version) ?? [])
        if told.allSatisfy({ listed.contains($0.version) }) { return [] }
        let history = current == nil ? [] : try await library.history(of: asset)
        let kept = KeptRevisions(
            current: current?.revision ?? 0,
            history.compactMap { version in
                VersionName(version.version).map {
                    KeptRevisions.Version(
                        name: $0,
                        parent: version.parent.flatMap(VersionName.init)?.revision ?? 0,
                        told: version.told)
                }
            })
        return kept.lost(of: told, asset.string)
    }
}
