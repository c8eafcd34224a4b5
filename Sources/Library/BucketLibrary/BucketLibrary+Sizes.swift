import BlobStore
public import Edits
import Files
import FoundationEssentials
public import Library
import SystemPackage

/// Renditions of versions. Their objects are never replaced: their keys have a part of the rendition's key, and the fence of the job if
/// one of that name was there before. The list of a version is replaced if it is unchanged since it was read.
extension BucketLibrary {
    public func sizes(
        of version: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> SizeList {
        try await taggedSizes(of: version, asset).list
    }

    /// - Parameter replaces: whether a damaged list counts as an empty one.
    private func taggedSizes(
        of version: VersionName, _ asset: AssetPath, replaces: Bool = false
    ) async throws(Failure) -> (list: SizeList, tag: BlobTag?) {
        let key = try keys.size(SizeList.fileName, of: version, asset)
        guard let found = try await store.document(key, atMost: SizeList.bytesMax) else {
            return (SizeList(), nil)
        }
        func read() throws(Failure) -> SizeList {
            try SizeList(reading: found.bytes, at: location(key))
        }
        return (replaces ? try SizeList.replaceable(read) : try read(), found.blob.tag)
    }

    /// Downloads a rendition. One that the list names is compared with it.
    func openRendition(
        _ file: String, of version: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> OpenFile {
        let key = try keys.size(file, of: version, asset)
        let made = try await sizes(of: version, asset).renditions.values.first { $0.file == file }?
            .made
        if let made, let lease = downloads.cache.lease(made.sha256) {
            return try downloads.cache.open(lease, name: location(key))
        }
        let arrival = try await downloads.bring(
            "rendition:\(key)",
            ScratchDownloads.Order(
                store: store, key: key, name: location(key), sha256: made?.sha256,
                bytes: made?.bytes, missing: .damagedVersion))
        return try downloads.cache.open(arrival.lease, name: location(key))
    }

    /// Uploads the renditions that were staged with a version, and their list. Keys contain the version's fence, so
    /// repeating the call writes the same bytes to the same keys, and nobody else writes the list yet.
    func seal(
        _ sizes: SizeList, of version: VersionName, _ asset: AssetPath, from staged: StagedVersion
    ) async throws(Failure) -> SizeList {
        guard !sizes.isEmpty else { return sizes }
        var named = SizeList(gone: sizes.gone)
        for (name, rendition) in sizes.renditions {
            named.renditions[name] = rendition.namedByKey(name)
        }
        try await upload(named, named.names, of: version, asset, from: staged)
        try await store.write(
            named.encoded(), to: keys.size(SizeList.fileName, of: version, asset))
        return named
    }

    /// Uploads the files of a list, or lets the store copy those that are another version's.
    ///
    /// - Parameter names: those whose files are staged.
    private func upload(
        _ list: SizeList, _ names: [String], of version: VersionName, _ asset: AssetPath,
        from staged: StagedVersion
    ) async throws(Failure) {
        _ = try await concurrentMap(names, atOnce: Self.requestsAtOnce) { name throws(Failure) in
            guard let rendition = list.renditions[name] else { return }
            let path = rendition.namedPlainly(name).stagedName
            let target = try self.keys.size(rendition.file, of: version, asset)
            let note = try await offPool { () throws(Failure) in try self.note(of: path, staged) }
            if let note, let donor = VersionName(note.version) {
                let source = try self.keys.size(note.file, of: donor, note.asset)
                let tag = try await self.store.find(source, missing: .ioFailure).tag
                return try await repeatably(missing: .ioFailure) { () throws(BlobError) in
                    _ = try await self.store.copy(source, tag, to: target, rendition.attributes)
                }
            }
            let file = self.staging.folder(of: staged).pushing(FilePath(path))
            let open = try await offPool { () throws(Failure) in try FileSystem.open(file, 0) }
            try await self.put(
                open, StoredDigest(sha256: rendition.made.sha256, bytes: rendition.made.bytes),
                to: target, in: self.store, rendition.attributes)
        }
    }

    /// The most times that a change of a list is decided. Each repetition means that another job has changed it.
    private static let sizeRoundsMax = 16

    public func add(
        _ renditions: [String: StoredRendition], to version: VersionName, of asset: AssetPath,
        from staged: StagedVersion
    ) async throws(Failure) -> SizeList {
        try await checkPresence()
        let named = try await naming(renditions, of: version, asset, fence: staged.fence)
        let key = try keys.size(SizeList.fileName, of: version, asset)
        for _ in 0..<Self.sizeRoundsMax {
            try await checkKept(version, asset)
            let (before, tag) = try await taggedSizes(of: version, asset, replaces: true)
            let change = try SizeChange(before, adding: named)
            guard !change.added.isEmpty else { return change.list }
            let meanwhile = change.listMeanwhile(before)
            if meanwhile == nil {
                try await upload(change.list, change.added, of: version, asset, from: staged)
            }
            let bytes = try (meanwhile ?? change.list).encoded()
            do throws(BlobError) {
                try await store.put(
                    key, bytes, if: tag.map { .unchanged($0) } ?? .absent, .json)
            } catch {
                switch error.code {
                // Another job has changed it, or a reply was lost: the list is read again.
                case .precondition, .changed, .notFound, .unknownFate: continue
                default: throw error.failure()
                }
            }
            guard meanwhile == nil else { continue }
            // A collection that began before the list was written does not know the objects.
            try await checkKept(version, asset)
            return change.list
        }
        throw Failure(
            .ioFailure,
            "the renditions of \(asset.string.debugDescription) were changed by others \(Self.sizeRoundsMax) times in a "
                + "row. The job is retried.")
    }

    /// Names the objects of renditions. Where one of that name is there, or was, it is left to the next collection, and the new one is
    /// another object: a collection that has listed the old one removes it whenever it likes, and no store removes on a condition.
    private func naming(
        _ renditions: [String: StoredRendition], of version: VersionName, _ asset: AssetPath,
        fence: String
    ) async throws(Failure) -> [String: StoredRendition] {
        let list = try await taggedSizes(of: version, asset, replaces: true).list
        var named: [String: StoredRendition] = [:]
        for (name, rendition) in renditions {
            let usual = rendition.namedByKey(name)
            if let known = list.renditions[name], known.isSame(as: rendition) {
                // A file that a list names is not removed.
                named[name] = rendition.named(known.file)
                continue
            }
            let key = try keys.size(usual.file, of: version, asset)
            let isFree = list.gone[name] == nil ? try await store.find(key) == nil : false
            named[name] = isFree ? usual : rendition.namedByKey(name, again: fence)
        }
        return named
    }

    /// - Throws: `missingVersion` if a version is not kept any more.
    private func checkKept(_ version: VersionName, _ asset: AssetPath) async throws(Failure) {
        heads.remove(ExactName(asset))
        let head = try await head(of: asset).head
        if head.entry(version.description) != nil { return }
        if head.mayHave(older: version), try await record(version, asset) != nil { return }
        throw Failure(
            .missingVersion,
            "the version \(version) of \(asset.string.debugDescription) is not kept any more, so it gets no renditions."
        )
    }

    /// Removes the objects of kept versions that no list names, ``AssetHead/readerGrace`` after they were written. The list of a
    /// version that loses its renditions keeps what they were, and their objects go with the next collection.
    func collectSizes(
        _ asset: AssetPath, _ stored: [String: StoredVersion], keeping retention: Retention,
        now: Date, isDryRun: Bool, _ collected: inout Collected
    ) async throws(Failure) {
        let versions = stored.filter { !$0.value.renditions.isEmpty }.keys.sorted()
        guard !versions.isEmpty else { return }
        let tagged = try await head(of: asset)
        guard tagged.tag != nil else { return }
        let kept = try await history(of: asset).map { ($0.version, $0.author.date) }
        let draft = tagged.head.draft?.version
        let newest = now.addingTimeInterval(-Double(AssetHead.readerGrace))
        for version in versions {
            let place = kept.firstIndex { $0.0 == version }
            guard place != nil || version == draft, let name = VersionName(version) else {
                continue
            }
            let (list, tag) = try await taggedSizes(of: name, asset, replaces: true)
            let named = Set(list.renditions.values.map(\.file) + [SizeList.fileName])
            if let place, place > 0, !list.renditions.isEmpty, let tag,
                retention.collectsRenditions(
                    made: list.renditions.values.map { Date(recorded: $0.at) }
                        + [kept[place - 1].1], now: now)
            {
                collected.renditions.append(version)
                if !isDryRun { try await forget(list, tag, of: name, asset) }
            }
            var going = (stored[version]?.renditions ?? []).filter { entry in
                guard let file = keys.sizeVersion(of: entry.key, asset)?.file,
                    !named.contains(file)
                else { return false }
                return entry.modified.map { Double($0.seconds) < newest.timeIntervalSince1970 }
                    ?? false
            }
            guard !isDryRun, !going.isEmpty else {
                collected.bytes += going.reduce(0) { $0 + $1.size }
                continue
            }
            // Looked at again: the listing may be old by now.
            let now = try await taggedSizes(of: name, asset, replaces: true).list
            let namedNow = Set(now.renditions.values.map(\.file))
            going.removeAll { entry in
                keys.sizeVersion(of: entry.key, asset).map { namedNow.contains($0.file) } ?? true
            }
            collected.bytes += going.reduce(0) { $0 + $1.size }
            guard !going.isEmpty else { continue }
            let left = try await storeCall { () throws(BlobError) in
                try await self.store.delete(going.map(\.key))
            }
            if let reason = left.values.first { collected.undeleted[version] = reason.message }
        }
    }
}

extension BucketLibrary {
    /// Replaces a list by one that names no file, unless a job has changed it: then the next collection decides again.
    private func forget(
        _ list: SizeList, _ tag: BlobTag, of version: VersionName, _ asset: AssetPath
    ) async throws(Failure) {
        let key = try keys.size(SizeList.fileName, of: version, asset)
        let bytes = try list.withoutFiles.encoded()
        do throws(BlobError) {
            try await store.put(key, bytes, if: .unchanged(tag), .json)
        } catch {
            switch error.code {
            case .precondition, .changed, .notFound, .unknownFate: break
            default: throw error.failure()
            }
        }
    }
}

extension StoredRendition {
    fileprivate var attributes: BlobAttributes { BlobAttributes(mediaType: made.mediaType) }
}
