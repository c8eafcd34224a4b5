public import Edits
import BlobStore
public import FoundationEssentials
public import Library

extension BucketLibrary {
    /// The most pages of an asset's objects that are read: a hundred thousand objects.
    private static let pagesMax = 100

    /// Removes versions in two steps, ``AssetHead/readerGrace`` apart: see ``CollectionPlan``. The first step
    /// reports them.
    public func collect(
        _ asset: AssetPath, keeping retention: Retention, now: Date, isDryRun: Bool
    ) async throws(Failure) -> Collected {
        let stored = try await stored(of: asset)
        // The head is read after the list, so that it includes a version that was sealed and published in the
        // meantime.
        heads.remove(ExactName(asset))
        return try await change(asset) { tagged throws(Failure) in
            guard tagged.tag != nil || !stored.isEmpty else { return .answer(Collected()) }
            let older = try await self.older(tagged.head, asset)
            var entries: [AssetHead.Entry] = []
            for version in older {
                guard let name = VersionName(version.version) else { continue }
                entries.append(.init(version, try await self.links(of: name, asset)))
            }
            let plan = tagged.head.collecting(
                older: entries, stored: stored, keeping: retention, now: now)
            guard !isDryRun else { return .answer(plan.collected) }
            let left = try await self.remove(plan.due, stored)
            var collected = plan.collected
            collected.undeleted = left
            let removed = Set(plan.due).subtracting(left.keys)
            guard let next = tagged.head.collected(plan, removed: removed) else {
                return .answer(collected)
            }
            return .write(next, collected)
        }
    }

    /// Removes the objects of versions.
    ///
    /// - Returns: the versions of which objects remain, because of a lock or a missing right, each with the reason.
    private func remove(
        _ versions: [String], _ stored: [String: StoredVersion]
    ) async throws(Failure) -> [String: String] {
        let objects = versions.flatMap { stored[$0]?.keys ?? [] }
        let left =
            objects.isEmpty
            ? [:]
            : try await storeCall { () throws(BlobError) in try await self.store.delete(objects) }
        var reasons: [String: String] = [:]
        for version in versions {
            reasons[version] = stored[version]?.keys.lazy.compactMap { left[$0]?.message }.first
        }
        return reasons
    }

    /// Returns the objects of an asset's versions, by version.
    func stored(of asset: AssetPath) async throws(Failure) -> [String: StoredVersion] {
        let prefix = keys.versionsPrefix(of: asset)
        var found: [String: StoredVersion] = [:]
        var last: BlobKey?
        for _ in 0..<Self.pagesMax {
            let start = last
            let page = try await storeCall { () throws(BlobError) in
                try await self.store.list(prefix, after: start)
            }
            for entry in page.entries {
                guard let (name, _) = keys.version(of: entry.key, asset) else { continue }
                var version = found[name.description] ?? StoredVersion()
                let isFirst = version.keys.isEmpty
                version.keys.append(entry.key)
                version.bytes += entry.size
                let modified = entry.modified?.seconds
                version.newest =
                    isFirst
                    ? modified : version.newest.flatMap { known in modified.map { max(known, $0) } }
                found[name.description] = version
            }
            guard let next = page.next else { return found }
            last = next
        }
        throw Failure(
            .exceedsLimit,
            "the versions of \(asset) have more than \(Self.pagesMax * BlobPage.entriesMax) objects. Other assets lie "
                + "below the same name; move them.")
    }
}
