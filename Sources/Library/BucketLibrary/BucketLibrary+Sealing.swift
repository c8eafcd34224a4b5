public import Edits
import BlobStore
import Files
import FoundationEssentials
public import Library
import SystemPackage

/// A version that this process has sealed.
struct FreshVersion: Sendable {
    let version: SealedVersion
    /// The head before the first upload; nil if it was unknown.
    let head: TaggedHead?
}

extension BucketLibrary {
    /// Uploads a staged version, its provenance last.
    ///
    /// Keys contain the fence, so repeating the call writes the same bytes to the same keys. The store compares
    /// each file with the digest in the provenance.
    public func seal(
        _ staged: StagedVersion, _ provenance: Provenance, _ sizes: SizeList, of asset: AssetPath
    ) async throws(Failure) -> SizeList {
        let text = try provenance.encoded()
        guard let name = VersionName(provenance.version) else {
            throw Failure(
                .damagedVersion, "\(provenance.version.debugDescription) is no name of a version.")
        }
        // Validated first, so that no unreadable provenance is written.
        try remember(text, name, asset)
        let head = heads[ExactName(asset)]
        let files = provenance.content?.recordedFiles ?? []
        let notes = try await offPool { () throws(Failure) in
            var notes: [String: Note] = [:]
            for file in files { notes[file.name] = try self.note(of: file.name, staged) }
            return notes
        }
        var links = VersionLinks()
        for (file, note) in notes where ExactName(note.asset) == ExactName(asset) {
            guard let target = VersionName(note.version) else { continue }
            links.add(file, to: VersionFile(note.file, of: target))
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
                    if note.tag != nil, let render = provenance.content?.rendering?.key,
                        let key = RenderKey(recorded: render)
                    {
                        try await self.removeSharedRenderRecord(key)
                    }
                    throw error
                }
            } else {
                try await self.upload(file, of: staged, to: key)
            }
        }
        if !links.isEmpty {
            try await store.write(
                links.encoded(), to: keys.file(LibraryKeys.linksFile, of: name, asset))
        }
        let named = try await seal(sizes, of: name, asset, from: staged)
        let version = try SealedVersion(provenance, text, links, of: asset, keys)
        try await store.write(text, to: keys.file(Provenance.fileName, of: name, asset))
        let key = VersionKey(asset: asset, name: name)
        self.links.set(key, links)
        sealed.set(key, FreshVersion(version: version, head: head), cost: 4_096 + text.count)
        return named
    }

    private func upload(
        _ file: RecordedFile, of staged: StagedVersion, to key: BlobKey
    ) async throws(Failure) {
        let path = staging.folder(of: staged).pushing(FilePath(file.name))
        let (source, length) = try await offPool { () throws(Failure) in
            let source = try FileSystem.open(path, 0)
            return (source, try source.length())
        }
        try await put(
            source, StoredDigest(sha256: file.sha256, bytes: length), to: key, in: store,
            file.attributes)
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
            tag = try await store.find(key, missing: .damagedVersion).tag
        }
        try await repeatably(missing: note.tag == nil ? .damagedVersion : .ioFailure) {
            () throws(BlobError) in
            _ = try await self.store.copy(
                key, tag, to: target, BlobAttributes(usesStorageClass: file.isRender))
        }
    }
}

/// References to files of a staged version that are already in the bucket: a small note in the staged folder
/// records the location of each.
extension BucketLibrary {
    private static let folderName = ".links"
    /// The most bytes of a note: the longest asset and file, escaped.
    private static let noteBytesMax = 16 << 10

    /// A reference to a file in the bucket.
    struct Note: Sendable, Codable, Equatable {
        let asset: AssetPath
        /// The version that owns the file.
        let version: String
        /// The path of the file in that version.
        let file: String
        /// The tag of the referenced content; nil if any content is valid, since versions do not change.
        var tag: String?
    }

    /// Copies the bytes of an original to the staged version. For a file of a version it writes only a note.
    public func link(
        _ file: StoredFile, as name: String, into staged: StagedVersion
    ) async throws(Failure) {
        switch file {
        case .original:
            let source = try await open(file)
            try await offPool { () throws(Failure) in
                _ = try self.staging.copy(source, as: name, into: staged, bytesMax: .max)
            }
        case .layer(let asset, let version, _, let path):
            let target = try await links(of: version, asset).resolve(path, of: version)
            let note = Note(asset: asset, version: target.version.description, file: target.file)
            try await offPool { () throws(Failure) in
                try self.write(note, as: name, into: staged)
            }
        case .rendition(let asset, let version, let file):
            let note = Note(asset: asset, version: version.description, file: file)
            try await offPool { () throws(Failure) in
                try self.write(note, as: name, into: staged)
            }
        }
    }

    /// Records the location of a staged version's file.
    func write(
        _ note: Note, as name: String, into staged: StagedVersion
    ) throws(Failure) {
        let path = staging.folder(of: staged).appending(Self.folderName).pushing(FilePath(name))
        let bytes = try LibraryDocument.encoded(note, "the note of a link")
        try staging.files.makeFolder(path.removingLastComponent())
        try staging.files.remove(path)
        try staging.files.write(bytes, to: path)
    }

    /// Removes the note of a file.
    func unlink(_ name: String, of staged: StagedVersion) throws(Failure) {
        try staging.files.remove(
            staging.folder(of: staged).appending(Self.folderName).pushing(FilePath(name)))
    }

    /// Returns the note of a file; nil if the staged folder has its bytes.
    func note(of name: String, _ staged: StagedVersion) throws(Failure) -> Note? {
        let folder = staging.folder(of: staged).appending(Self.folderName)
        guard try staging.files.exists(folder.pushing(FilePath(name))) else { return nil }
        let bytes = try staging.files.read(name, in: folder, bytesMax: Self.noteBytesMax)
        do {
            return try JSONDecoder().decode(Note.self, from: Data(bytes))
        } catch {
            throw Failure(
                .ioFailure,
                "the note of \(name) in \(folder) is damaged: \(error.decodingReason). The job is retried."
            )
        }
    }
}
