import Edits
package import JobQueue
package import Library
package import Redis

/// Jobs that the queue has told to be done, and whose versions, drafts or renditions the library does not have: it was restored from a
/// backup that is older than the queue.
///
/// The queue's events are compared with the library; ``ToldEnds`` decides.
package struct LostVersions: Sendable {
    /// In the order in which they were told; no more than the events that the queue keeps.
    package private(set) var jobs: [LostJob] = []
    /// The number of assets that were compared.
    package private(set) var assets = 0

    /// Compares what the events of a queue tell with a library.
    ///
    /// - Throws: `QueueError`; the failures of reading the library.
    package init(
        of queue: QueueName, _ redis: RedisClient, in library: any LibraryReader
    ) async throws {
        // One that is away lacks everything.
        try await library.checkPresence()
        var told: [String: ToldEnds] = [:]
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
            for entry in entries {
                guard let (asset, end) = entry.event.end else { continue }
                if told[asset] == nil {
                    // An asset of which nothing was made lacks nothing.
                    if case .nothing = end.what { continue }
                    order.append(asset)
                }
                told[asset, default: ToldEnds()].add(end)
            }
        }
        for name in order {
            guard let ends = told[name] else { continue }
            assets += 1
            let kept = try await Self.kept(ends, AssetPath(name), in: library)
            jobs += ends.lost(name, in: kept)
        }
    }

    /// Reads what a library has of that of which ends of jobs tell.
    private static func kept(
        _ told: ToldEnds, _ asset: AssetPath, in library: any LibraryReader
    ) async throws(Failure) -> ToldEnds.Holdings {
        let state = try await library.state(of: asset)
        let current = state.current
        // Mostly the current version lists all that were told.
        let listed = Set(current?.published?.map(\.version) ?? [])
        let isWhole = told.versions.allSatisfy { listed.contains($0.description) }
        let history = isWhole || current == nil ? [] : try await library.history(of: asset)
        var kept = ToldEnds.Holdings(
            revisions: KeptRevisions(
                current: current?.revision ?? 0,
                history.compactMap { version in
                    VersionName(version.version).map {
                        KeptRevisions.Version(
                            name: $0,
                            parent: version.parent.flatMap(VersionName.init)?.revision ?? 0,
                            told: version.told)
                    }
                }), listed: listed)
        kept.draft = state.draft.flatMap { VersionName($0.version) }
        for version in told.versionsWithRenditions {
            // One that was collected took its renditions along.
            let isShown = state.versions.contains { $0.version == version.description }
            if !isShown {
                guard try await library.provenance(of: version, asset) != nil else { continue }
            }
            kept.sizes[version] = try await library.sizes(of: version, asset)
        }
        return kept
    }
}

extension JobEvent {
    /// The asset and the end of the job that the event tells of; nil for other events.
    fileprivate var end: (asset: String, ToldEnds.End)? {
        func end(_ attempt: Attempt, _ what: ToldEnds.What?) -> (asset: String, ToldEnds.End)? {
            what.map { (attempt.asset, ToldEnds.End(job: attempt.job, what: $0, at: time)) }
        }
        switch data {
        case .completed(let data):
            return end(data.base, VersionName(data.version.id).map { .version($0, data.mode) })
        case .drafted(let data):
            return end(data.base, VersionName(data.version.id).map { .draft($0) })
        case .rendered(let data):
            let made = data.renditions.compactMapValues { outcome -> MadeFile? in
                if case .made(let rendition) = outcome { rendition.base.more } else { nil }
            }
            return end(
                data.base, VersionName(data.version.id).map { .renditions(made, of: $0) })
        case .unchanged(let data):
            return end(data.base, .nothing(removesDraft: data.mode == .discard))
        case .superseded(let data): return end(data.base, .nothing(removesDraft: false))
        case .failed(let data): return end(data.base, .nothing(removesDraft: false))
        case .cancelled(let data):
            let end = ToldEnds.End(job: data.job, what: .nothing(removesDraft: false), at: time)
            return (data.asset, end)
        default: return nil
        }
    }
}
