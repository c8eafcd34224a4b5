package import Edits
import BlobStore
import Files
package import Library

extension BucketLibrary {
    /// Writes the missing objects: files, links, and last the provenance, which completes the version.
    package func copy(
        _ version: VersionCopy, of asset: AssetPath, from source: any CopyableLibrary
    ) async throws(Failure) -> CopyTally {
        let text = try await source.provenanceText(of: version, asset)
        let key = try keys.file(Provenance.fileName, of: version.name, asset)
        let there = try await read(key, atMost: Provenance.fileBytesMax)
        if let there, there != text {
            throw Failure(
                .damagedVersion,
                "\(location(key)) is of another version than the source's of this name. Move it away, and copy again."
            )
        }
        // A sealed version keeps its links, because heads name them.
        let links =
            there == nil
            ? try await planned(version, asset) : try await self.links(of: version.name, asset)
        let tallies = try await eachOf(version.files, atOnce: Self.requestsAtOnce) {
            file throws(Failure) in
            let target = links.resolve(file.recorded.name, of: version.name)
            let key = try self.keys.file(target.file, of: target.version, asset)
            return try await self.copy(file, to: key, of: version, asset, from: source)
        }
        var tally = CopyTally()
        for one in tallies { tally.add(one) }
        if there == nil {
            try await seal(version.name, text, links, of: asset)
            tally.copied(text.count)
        } else {
            tally.skipped(text.count)
        }
        try remember(text, version.name, asset)
        self.links.set(VersionKey(asset: asset, name: version.name), links)
        return tally
    }

    /// Returns the links of a version to be written. A link to a link is resolved.
    private func planned(
        _ version: VersionCopy, _ asset: AssetPath
    ) async throws(Failure) -> VersionLinks {
        var links = VersionLinks()
        for file in version.files {
            guard let link = file.link else { continue }
            links.add(
                file.recorded.name,
                to: try await self.links(of: link.version, asset)
                    .resolve(link.file, of: link.version))
        }
        return links
    }

    private func copy(
        _ file: VersionCopy.File, to key: BlobKey, of version: VersionCopy, _ asset: AssetPath,
        from source: any CopyableLibrary
    ) async throws(Failure) -> CopyTally {
        var tally = CopyTally()
        if let found = try await digest(of: key, in: store, isRead: false),
            file.recorded.isSame(as: found)
        {
            tally.skipped(found.bytes)
            return tally
        }
        let open = try await source.open(file, of: version, asset)
        let (hex, bytes) = try await offPool { () throws(Failure) in
            try FileDigest.sha256(of: open)
        }
        let found = StoredDigest(sha256: hex, bytes: bytes)
        try file.recorded.check(found, open.name)
        try await put(open, found, to: key, in: store, file.recorded)
        tally.copied(bytes)
        return tally
    }

    /// Writes links and provenance. Links of an earlier copy with another plan are removed.
    private func seal(
        _ name: VersionName, _ text: [UInt8], _ links: VersionLinks, of asset: AssetPath
    ) async throws(Failure) {
        let key = try keys.file(LibraryKeys.linksFile, of: name, asset)
        if !links.isEmpty {
            try await put(LibraryKeys.linksFile, links.encoded(), of: name, asset)
        } else if try await exists(key) {
            try await put(LibraryKeys.linksFile, links.encoded(), of: name, asset)
        }
        try await put(Provenance.fileName, text, of: name, asset)
    }

    /// Writes the head if it is unchanged since the decision.
    package func advance(
        _ asset: AssetPath, to history: KeptHistory
    ) async throws(Failure) -> HeadAdvance {
        var entries: [AssetHead.Entry] = []
        for version in history.versions.prefix(AssetHead.historyMax) {
            guard let name = VersionName(version.version) else { continue }
            entries.append(AssetHead.Entry(version, try await links(of: name, asset)))
        }
        let copied = AssetHead.CopiedVersions(
            entries: entries, floor: history.versions.last?.revision ?? 1,
            current: try await written(history.current, asset),
            draft: try await written(history.draft, asset))
        return try await change(asset) { tagged throws(Failure) in
            switch history.over(current: tagged.head.current, draft: tagged.head.draft?.version) {
            case .same: return .answer(.same)
            case .differs(let sentence): return .answer(.differs(sentence))
            case .advanced:
                return .write(
                    try tagged.head.copying(copied, of: asset, now: self.now), .advanced)
            }
        }
    }

    /// Returns a version that was just written.
    private func written(
        _ version: Provenance?, _ asset: AssetPath
    ) async throws(Failure) -> SealedVersion? {
        guard let name = version.flatMap({ VersionName($0.version) }) else { return nil }
        guard let sealed = try await sealedVersion(name, asset) else {
            throw Failure(
                .ioFailure,
                "the version \(name) of \(asset) was removed while it was copied. Copy again, without running gc."
            )
        }
        return sealed
    }
}
