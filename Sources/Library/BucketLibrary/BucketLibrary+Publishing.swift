public import Edits
import BlobStore
import Files
public import FoundationEssentials
public import Library

extension BucketLibrary {
    public func publish(
        _ name: VersionName, of asset: AssetPath, from staged: StagedVersion
    ) async throws(Failure) -> Publication {
        try await checkPresence()
        let version = VersionKey(asset: asset, name: name)
        let fresh = sealed[version]
        let found: SealedVersion?
        if let fresh { found = fresh.version } else { found = try await sealedVersion(name, asset) }
        guard let found else { return .lost }
        let publication = try await change(asset) { tagged throws(Failure) in
            let state = try await self.state(tagged, asset)
            let decision = tagged.head.publishing(
                found, state, try await self.publishedJobs(of: asset, state),
                isOlder: try await self.isOlder(name, tagged.head, asset), now: self.now)
            guard case .write = decision else { return decision }
            // The head is unchanged since before the upload, so no object of the version can have been removed.
            if let head = fresh?.head, head.tag == tagged.tag, tagged.head.has(found.links) {
                return decision
            }
            return try await self.isThere(found, asset) ? decision : .answer(.lost)
        }
        switch publication {
        case .published, .alreadyPublished, .publishedBefore:
            sealed.remove(version)
            try await discard(staged)
        // The caller may still read the staged version, and discards it.
        case .conflict, .lost: break
        }
        return publication
    }

    public func discard(_ staged: StagedVersion) async throws(Failure) {
        try await offPool { () throws(Failure) in try self.staging.discard(staged) }
    }

    /// Returns a version that was sealed by another worker, or by an earlier run of this one; nil if there is none.
    func sealedVersion(
        _ name: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> SealedVersion? {
        guard let text = try await text(name, asset) else { return nil }
        let provenance = try remember(text, name, asset)
        return try await SealedVersion(provenance, text, links(of: name, asset), of: asset, keys)
    }

    /// Returns whether a version is in the part of the history that is older than the head's list.
    private func isOlder(
        _ name: VersionName, _ head: AssetHead, _ asset: AssetPath
    ) async throws(Failure) -> Bool {
        guard head.mayHave(older: name) else { return false }
        return try await self.older(head, asset).contains { $0.version == name.description }
    }

    /// Returns whether all objects of a version exist.
    ///
    /// It is called after the head was read. Objects are removed only after a change of the head, so in that case
    /// the write fails.
    private func isThere(
        _ version: SealedVersion, _ asset: AssetPath
    ) async throws(Failure) -> Bool {
        let files = (version.provenance.content?.recordedFiles ?? []).map(\.name)
        var keys: [BlobKey] = [try self.keys.file(Provenance.fileName, of: version.name, asset)]
        for file in files {
            let target = version.links.resolve(file, of: version.name)
            keys.append(try self.keys.file(target.file, of: target.version, asset))
        }
        let found = try await concurrentMap(keys, atOnce: Self.requestsAtOnce) {
            key throws(Failure) in
            try await self.store.find(key) != nil
        }
        return found.allSatisfy(\.self)
    }

    public func confirm(
        _ version: Provenance, of asset: AssetPath, at arrival: Int
    ) async throws(Failure) -> Bool {
        try await change(asset) { tagged throws(Failure) in
            tagged.head.confirming(version, at: arrival)
        }
    }

    public func discardDraft(
        of asset: AssetPath, _ name: VersionName?
    ) async throws(Failure) -> VersionName? {
        let discarded = try await change(asset) { tagged throws(Failure) in
            tagged.head.discardingDraft(name, now: self.now)
        }
        if discarded == nil, heads[ExactName(asset)]?.tag == nil {
            // The asset was never edited: either there is an original, or the name is wrong.
            _ = try await originals.find(keys.original(of: asset), missing: .missingAsset)
        }
        return discarded
    }
}

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
        var collected = try await change(asset) { tagged throws(Failure) in
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
        try await collectSizes(
            asset, stored, keeping: retention, now: now, isDryRun: isDryRun, &collected)
        return collected
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

    func stored(of asset: AssetPath) async throws(Failure) -> [String: StoredVersion] {
        let prefix = keys.versionsPrefix(of: asset)
        var found: [String: StoredVersion] = [:]
        var pages = 0
        try await store.pages(prefix) { page throws(Failure) in
            pages += 1
            guard pages <= Self.pagesMax else {
                throw Failure(
                    .exceedsLimit,
                    "the versions of \(asset) have more than \(Self.pagesMax * BlobPage.entriesMax) objects. Other "
                        + "assets lie below the same name; move them.")
            }
            for entry in page.entries {
                guard let (name, _) = keys.version(of: entry.key, asset) else { continue }
                found[name.description, default: StoredVersion()].add(entry)
            }
            return true
        }
        try await store.pages(keys.sizesPrefix(of: asset)) { page throws(Failure) in
            for entry in page.entries {
                guard let (name, _) = keys.sizeVersion(of: entry.key, asset) else { continue }
                found[name.description, default: StoredVersion()].add(rendition: entry)
            }
            return true
        }
        return found
    }
}

extension AssetHead {
    /// Returns whether the head names all linked versions, so that their files exist.
    func has(_ links: VersionLinks) -> Bool {
        let linked = linked
        return links.versions.allSatisfy { entry($0) != nil || linked.contains($0) }
    }
}
