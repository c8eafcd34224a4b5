import Edits
import BlobStore
import Library
import SystemPackage

/// The provenances and links of versions, which never change: each is read once.
extension BucketLibrary {
    /// Returns the provenance of a version in the bucket, published or not; nil if it is missing.
    ///
    /// - Throws: `damagedVersion` if it is the provenance of another version, `laterFormat`, `ioFailure`.
    func record(
        _ name: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> Provenance? {
        let version = VersionKey(asset: asset, name: name)
        if let known = provenances[version] { return known }
        let key = try keys.file(Provenance.fileName, of: name, asset)
        guard let bytes = try await read(key, atMost: Provenance.fileBytesMax) else { return nil }
        return try remember(bytes, name, asset)
    }

    /// Decodes a provenance and caches it.
    @discardableResult
    func remember(
        _ bytes: [UInt8], _ name: VersionName, _ asset: AssetPath
    ) throws(Failure) -> Provenance {
        let location = location(try keys.file(Provenance.fileName, of: name, asset))
        let provenance = try Provenance(reading: bytes, at: FilePath(location))
        guard provenance.version == name.description else {
            throw Failure(
                .damagedVersion,
                "\(location) names the version \(provenance.version). Restore it from a backup.")
        }
        provenances.set(
            VersionKey(asset: asset, name: name), provenance, cost: 4_096 + bytes.count)
        return provenance
    }

    /// Returns the files of a version that belong to other versions.
    func links(
        of name: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> VersionLinks {
        let version = VersionKey(asset: asset, name: name)
        if let known = links[version] { return known }
        // A cached head suffices, because a version's links never change.
        if let entry = heads[ExactName(asset)]?.head.entry(name.description), entry.links.isEmpty {
            return VersionLinks()
        }
        let key = try keys.file(LibraryKeys.linksFile, of: name, asset)
        let bytes = try await read(key, atMost: VersionLinks.fileBytesMax)
        let found =
            if let bytes { try VersionLinks(reading: bytes, at: location(key)) } else {
                VersionLinks()
            }
        // A version that is not sealed yet may still get links.
        if bytes != nil { links.set(version, found) }
        return found
    }

    /// Returns the state of an asset that a head describes.
    func state(_ tagged: TaggedHead, _ asset: AssetPath) async throws(Failure) -> AssetState {
        let head = tagged.head
        return AssetState(
            current: try await embedded(head.provenance, head.current, asset),
            draft: try await embedded(head.draftProvenance, head.draft?.version, asset),
            confirmed: head.confirmed.flatMap { $0.version == head.current ? $0.arrival : nil })
    }

    private func embedded(
        _ text: String?, _ version: String?, _ asset: AssetPath
    ) async throws(Failure) -> Provenance? {
        guard let name = version.flatMap(VersionName.init) else { return nil }
        if let known = provenances[VersionKey(asset: asset, name: name)] { return known }
        if let text { return try remember(Array(text.utf8), name, asset) }
        guard let provenance = try await record(name, asset) else {
            throw Failure(
                .damagedVersion,
                "the head of \(asset) names the version \(name), whose provenance is not in the bucket. Restore it from "
                    + "a backup.")
        }
        return provenance
    }

    /// Returns the kept versions that are older than a head's list, the newest first, each read once.
    func older(
        _ head: AssetHead, _ asset: AssetPath
    ) async throws(Failure) -> [Provenance] {
        var found: [Provenance] = []
        var next = head.older
        // A parent is older than its version (`Provenance.misnomer`), so the loop ends.
        while let name = next, name.revision >= head.floor,
            let version = try await record(name, asset), !version.isDraft
        {
            found.append(version)
            next = version.parent.flatMap(VersionName.init)
        }
        return found
    }
}
