import BlobStore
package import Edits
package import Files
package import Library
import SystemPackage

extension BucketLibrary {
    /// Writes the missing objects: files, links, and last the provenance, which completes the version.
    package func copy(
        _ version: VersionCopy, of asset: AssetPath, from source: any CopyableLibrary
    ) async throws(Failure) -> CopyTally {
        let text = try await source.provenanceText(of: version, asset)
        let there = try await self.text(version.name, asset)
        if let there, there != text {
            throw version.clash(
                at: location(try keys.file(Provenance.fileName, of: version.name, asset)))
        }
        // A sealed version keeps its links, because heads name them.
        let links =
            there == nil
            ? try await planned(version, asset) : try await self.links(of: version.name, asset)
        let tallies = try await concurrentMap(version.files, atOnce: Self.requestsAtOnce) {
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
        let open = try await source.open(version.file(file.recorded.name, of: asset))
        let (hex, bytes) = try await offPool { () throws(Failure) in
            try FileDigest.sha256(of: open)
        }
        let found = StoredDigest(sha256: hex, bytes: bytes)
        try file.recorded.check(found, open.name)
        try await put(open, found, to: key, in: store, file.recorded.attributes)
        tally.copied(bytes)
        return tally
    }

    /// Writes links and provenance. Links of an earlier copy with another plan are removed.
    private func seal(
        _ name: VersionName, _ text: [UInt8], _ links: VersionLinks, of asset: AssetPath
    ) async throws(Failure) {
        let key = try keys.file(LibraryKeys.linksFile, of: name, asset)
        let isWritten = try await !links.isEmpty ? true : store.find(key) != nil
        if isWritten { try await store.write(links.encoded(), to: key) }
        try await store.write(text, to: keys.file(Provenance.fileName, of: name, asset))
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

extension BucketLibrary: CopyableLibrary {
    package func originals(
        _ page: (OriginalsPage) async throws(Failure) -> Void
    ) async throws(Failure) {
        let prefix = keys.originalsPrefix
        try await originals.pages(prefix) { listed throws(Failure) in
            var found = OriginalsPage()
            for key in listed.entries.map(\.key.text) {
                let name = String(decoding: key.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
                // Storage consoles create such an object for an empty folder.
                if !name.utf8.elementsEqual("".utf8), name.utf8.last != UInt8(ascii: "/") {
                    found.add(name)
                }
            }
            try await page(found)
            return true
        }
    }

    package func isEdited(_ asset: AssetPath) async throws(Failure) -> Bool {
        try await store.find(keys.head(of: asset)) != nil
    }

    /// Does nothing: objects are complete or absent, and gc removes those that no head names.
    package func sweepCopies() async throws(Failure) {}

    package func copy(
        original source: OpenFile, _ digest: StoredDigest, of asset: AssetPath
    ) async throws(Failure) {
        // Multipart uploads do not support conditions: if another program writes the same name during the upload,
        // its object is overwritten.
        let condition = digest.bytes <= BlobCondition.bytesMax ? BlobCondition.absent : .always
        try await put(
            source, digest, to: keys.original(of: asset), in: originals, if: condition)
    }

    /// Writes an open file. The store compares its bytes with the digest.
    ///
    /// - Throws: `revisionConflict` if the condition requires that no object exists, and one with other bytes does.
    func put(
        _ source: OpenFile, _ digest: StoredDigest, to key: BlobKey, in store: any BlobStore,
        _ attributes: BlobAttributes = BlobAttributes(), if condition: BlobCondition = .always
    ) async throws(Failure) {
        guard let hash = BlobDigest(hex: digest.sha256) else {
            throw Failure(
                .internalError,
                "the digest of \(source.name) is \(digest.sha256.debugDescription).")
        }
        var hasOtherBytes = false
        try await repeatably { () throws(BlobError) in
            do throws(BlobError) {
                try await store.put(
                    key,
                    .file(
                        SystemPackage.FileDescriptor(rawValue: source.descriptor),
                        size: digest.bytes),
                    digest: hash, if: condition, attributes)
            } catch {
                guard error.code == .precondition else { throw error }
                // It may be from this call, if a reply was lost.
                let found = try await store.head(key)
                hasOtherBytes =
                    found.size != digest.bytes || found.digest.map { $0 != hash } ?? false
            }
        }
        withExtendedLifetime(source) {}
        guard !hasOtherBytes else {
            throw Failure(
                .revisionConflict,
                "another program put another object at \(location(key)) while \(source.name) was copied there. Remove "
                    + "the wrong one, "
                    + "and copy again.")
        }
    }
}

extension RecordedFile {
    var attributes: BlobAttributes {
        BlobAttributes(mediaType: mediaType, usesStorageClass: isRender)
    }
}
