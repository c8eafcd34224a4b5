public import Edits
import BlobStore
import Files
public import Library
import SystemPackage

/// A version that this process has sealed.
struct FreshVersion: Sendable {
    let version: SealedVersion
    /// The tag of the head before the first upload; nil if there was no head, or if it was unknown.
    let tag: BlobTag?
    /// Whether the head was known at that time.
    let wasKnown: Bool
}

extension BucketLibrary {
    /// Uploads a staged version, its provenance last.
    ///
    /// Keys contain the fence, so repeating the call writes the same bytes to the same keys. The store compares
    /// each file with the digest in the provenance.
    public func seal(
        _ staged: StagedVersion, _ provenance: Provenance, of asset: AssetPath
    ) async throws(Failure) {
        let text = Array(try provenance.encoded())
        guard let name = VersionName(provenance.version) else {
            throw Failure(
                .damagedVersion, "\(provenance.version.debugDescription) is no name of a version.")
        }
        // Validated first, so that no unreadable provenance is written.
        try remember(text, name, asset)
        let tagged = heads[ExactName(asset)]
        let files = provenance.content?.recordedFiles ?? []
        let notes = try await offPool { () throws(Failure) in
            var notes: [String: Note] = [:]
            for file in files { notes[file.name] = try self.note(of: file.name, staged) }
            return notes
        }
        var links = VersionLinks()
        for (file, note) in notes where ExactName(note.asset) == ExactName(asset) {
            guard let target = VersionName(note.version) else { continue }
            links.add(file, to: VersionLinks.Target(version: target, file: note.file))
        }
        let linked = links.targets
        _ = try await concurrentMap(
            files.filter { linked[$0.name] == nil }, atOnce: Self.requestsAtOnce
        ) { file throws(Failure) in
            let key = try self.keys.file(file.name, of: name, asset)
            if let note = notes[file.name] {
                do throws(Failure) {
                    try await self.copy(note, file, to: key)
                } catch {
                    // Makes the next attempt render: the donor is missing, or this store cannot copy.
                    if note.tag != nil, let render = provenance.content?.rendering?.key {
                        try await self.removeSharedRenderRecord(render)
                    }
                    throw error
                }
            } else {
                try await self.upload(file, of: staged, to: key)
            }
        }
        if !links.isEmpty {
            try await put(
                LibraryKeys.linksFile, links.encoded(), of: name, asset)
        }
        let version = try SealedVersion(provenance, text, links, of: asset, keys)
        try await put(Provenance.fileName, text, of: name, asset)
        let key = VersionKey(asset: asset, name: name)
        self.links.set(key, links)
        sealed.set(
            key, FreshVersion(version: version, tag: tagged?.tag, wasKnown: tagged != nil),
            cost: 4_096 + text.count)
    }

    /// Writes a small object of a version.
    func put(
        _ file: String, _ bytes: [UInt8], of name: VersionName, _ asset: AssetPath
    ) async throws(Failure) {
        let key = try keys.file(file, of: name, asset)
        try await repeatably { () throws(BlobError) in
            try await self.store.put(
                key, bytes, if: .always, BlobAttributes(mediaType: "application/json"))
        }
    }

    private func upload(
        _ file: RecordedFile, of staged: StagedVersion, to key: BlobKey
    ) async throws(Failure) {
        let path = staging.folder(of: staged).pushing(FilePath(file.name))
        let (source, length) = try await offPool { () throws(Failure) in
            let source = try FileSystem.describing(
                "opening", path, OpenFile(opening: path.string, 0))
            return (source, try source.length())
        }
        guard let digest = BlobDigest(hex: file.sha256) else {
            throw Failure(
                .internalError, "the digest of \(path) is \(file.sha256.debugDescription).")
        }
        try await repeatably { () throws(BlobError) in
            try await self.store.put(
                key, .file(SystemPackage.FileDescriptor(rawValue: source.descriptor), size: length),
                digest: digest, if: .always,
                BlobAttributes(mediaType: file.mediaType, usesStorageClass: file.isRender))
        }
        withExtendedLifetime(source) {}
    }

    /// Lets the store copy a file of another asset.
    private func copy(
        _ note: Note, _ file: RecordedFile, to target: BlobKey
    ) async throws(Failure) {
        guard let version = VersionName(note.version) else { return }
        let key = try keys.file(note.file, of: version, note.asset)
        let tag: BlobTag
        if let noted = note.tag {
            tag = BlobTag(noted)
        } else {
            tag = try await storeCall(missing: .damagedVersion) { () throws(BlobError) in
                try await self.store.head(key).tag
            }
        }
        try await repeatably(missing: note.tag == nil ? .damagedVersion : .ioFailure) {
            () throws(BlobError) in
            try await self.store.copy(
                key, tag, to: target, BlobAttributes(usesStorageClass: file.isRender))
        }
    }

    /// The most attempts of a write with an unknown result.
    private static let triesMax = 3

    /// Runs an idempotent write, and repeats it if its result is unknown.
    ///
    /// - Parameter missing: the code for a missing object.
    func repeatably<Result>(
        missing: FailureCode = .damagedVersion, _ write: () async throws(BlobError) -> Result
    ) async throws(Failure) {
        for number in 1... {
            do throws(BlobError) {
                _ = try await write()
                return
            } catch {
                guard error.code == .unknownFate, number < Self.triesMax else {
                    throw error.failure(missing: missing)
                }
            }
        }
    }
}
