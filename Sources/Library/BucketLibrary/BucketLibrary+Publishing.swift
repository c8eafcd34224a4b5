public import Edits
import BlobStore
import Files
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
            let facts = AssetHead.PublishFacts(
                state: state, jobs: try await self.publishedJobs(of: asset, state),
                isAncestor: try await self.isOlder(name, tagged.head, asset), now: self.now)
            let decision = tagged.head.publishing(found, facts)
            guard case .write = decision else { return decision }
            // The head is unchanged since before the upload, so no object of the version can have been removed.
            if let fresh, fresh.wasKnown, fresh.tag == tagged.tag, tagged.head.has(found.links) {
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
        let key = try keys.file(Provenance.fileName, of: name, asset)
        guard let text = try await read(key, atMost: Provenance.fileBytesMax) else { return nil }
        let provenance = try remember(text, name, asset)
        return try await SealedVersion(provenance, text, links(of: name, asset), of: asset, keys)
    }

    /// Returns whether a version is in the part of the history that is older than the head's list.
    private func isOlder(
        _ name: VersionName, _ head: AssetHead, _ asset: AssetPath
    ) async throws(Failure) -> Bool {
        guard let older = head.older, name.revision <= older.revision, name.revision >= head.floor
        else { return false }
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
            try await self.exists(key)
        }
        return found.allSatisfy(\.self)
    }

    func exists(_ key: BlobKey) async throws(Failure) -> Bool {
        do throws(BlobError) {
            _ = try await store.head(key)
            return true
        } catch {
            if error.code == .notFound { return false }
            throw error.failure()
        }
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
            let key = try keys.original(of: asset)
            _ = try await storeCall(missing: .missingAsset) { () throws(BlobError) in
                try await self.originals.head(key)
            }
        }
        return discarded
    }
}

extension AssetHead {
    /// Returns whether the head names all linked versions, so that their files exist.
    func has(_ links: VersionLinks) -> Bool {
        let linked = linked
        return links.versions.allSatisfy { entry($0) != nil || linked.contains($0) }
    }
}
