import BlobStore
public import Edits
public import Files
public import Library
import SystemPackage

/// Records of the versions that have a render, for all assets of a bucket; see ``RenderRecord``.
///
/// A record is a hint: before a render is reused, the donor's provenance and the objects themselves are checked.
/// The last write wins, and nothing is lost if `renders/` is removed.
extension BucketLibrary {
    /// The age in seconds, since its last write, at which gc removes a record: thirty days.
    static let sharedRenderAge = 30 * 86_400

    /// Returns the versions that have a render. A missing or damaged record names none.
    ///
    /// - Throws: `laterFormat` if a later release wrote the record.
    private func sharedRender(_ key: RenderKey) async throws(Failure) -> RenderRecord {
        let bytes = try await readHint(keys.render(key), atMost: RenderRecord.bytesMax)
        return if let bytes { try RenderRecord(bytes) } else { RenderRecord() }
    }

    /// Returns all bytes of a small object; nil if it is missing, or longer than any that Minilab writes.
    private func readHint(_ key: BlobKey, atMost count: Int) async throws(Failure) -> [UInt8]? {
        do throws(BlobError) {
            return try await store.bytes(key, nil, ifMatch: nil, atMost: count).bytes
        } catch {
            if error.code == .notFound || error.code == .invalid { return nil }
            throw error.failure()
        }
    }

    fileprivate func record(_ record: RenderRecord, of key: RenderKey) async throws(Failure) {
        try await store.write(record.encoded(), to: keys.render(key))
    }

    /// Reuses the render of one of the recorded versions.
    ///
    /// The store copies the files when the version is sealed, from the contents that are compared here.
    func reuse(
        _ key: RenderKey, recordedIn record: RenderRecord, as stem: String,
        into staged: StagedVersion
    ) async throws(Failure) -> RenderedPhoto? {
        for source in record.sources {
            guard let donor = try await donor(key, at: source) else { continue }
            let reused = try await add(donor, as: stem, into: staged) {
                file, ours throws(Failure) in
                let note = try await self.sound(file, of: donor)
                try await offPool { () throws(Failure) in
                    try self.write(note, as: ours, into: staged)
                }
            }
            if let reused { return reused }
        }
        return nil
    }

    /// Returns the version of a source if it exists and has the render of a key.
    ///
    /// It is always read from the store, because a cached version may have been removed.
    private func donor(
        _ key: RenderKey, at source: RenderRecord.Source
    ) async throws(Failure) -> RenderDonor? {
        guard let name = VersionName(source.version) else { return nil }
        let object: BlobKey
        do throws(Failure) {
            object = try keys.file(Provenance.fileName, of: name, source.asset)
        } catch {
            return nil  // no bucket can have such a name: the record is damaged
        }
        guard let bytes = try await readHint(object, atMost: Provenance.fileBytesMax) else {
            return nil
        }
        let version: Provenance
        do throws(Failure) {
            version = try remember(bytes, name, source.asset)
        } catch {
            return nil  // damaged: the photo is rendered, and verify reports it
        }
        guard let content = version.content, content.rendering?.key == key.hex else { return nil }
        return RenderDonor(version: version, name: name, asset: source.asset, content: content)
    }

    /// Returns the note of a donor's file if its content is the recorded one, as far as the store reports.
    ///
    /// - Throws: `damagedVersion` if the content differs.
    private func sound(
        _ file: RecordedFile, of donor: RenderDonor
    ) async throws(Failure) -> Note {
        let target = try await links(of: donor.name, donor.asset).resolve(file.name, of: donor.name)
        let object = try keys.file(target.file, of: target.version, donor.asset)
        let found = try await store.find(object, missing: .damagedVersion)
        let digest = StoredDigest(
            sha256: found.digest?.hex ?? file.sha256, bytes: found.size)
        guard file.isSame(as: digest) else {
            throw Failure(.damagedVersion, "\(self.location(object)) does not match its record.")
        }
        return Note(
            asset: donor.asset, version: target.version.description, file: target.file,
            tag: found.tag.text)
    }

    /// Ends the reuse of a render that was found to be wrong.
    func removeSharedRenderRecord(_ key: RenderKey) async throws(Failure) {
        guard try await store.find(keys.render(key)) != nil else { return }
        try await record(RenderRecord(), of: key)
    }

    /// Removes the objects whose keys have a prefix.
    ///
    /// - Parameter age: those that were written later are kept, in seconds; nil: none are.
    /// - Throws: the reason why an object could not be removed.
    private func removeObjects(
        _ prefix: String, olderThan age: Int? = nil
    ) async throws(Failure) {
        let newest = age.map { now - $0 } ?? .max
        try await store.pages(prefix) { page throws(Failure) in
            let old = page.entries.filter { entry in
                age == nil || entry.modified.map { $0.seconds < newest } ?? false
            }
            guard !old.isEmpty else { return true }
            let left = try await storeCall { () throws(BlobError) in
                try await self.store.delete(old.map(\.key))
            }
            if let reason = left.values.first { throw reason.failure() }
            return true
        }
    }
}

/// The reuse of existing renders.
///
/// Finding renders of the same asset costs no request, because the head lists their keys. Renders of other assets
/// are found through records, which cost requests, if ``Settings/sharesRenders`` is set. Two jobs that start the
/// same render at the same time both render, with the same result.
extension BucketLibrary {
    public func claim(
        _ key: RenderKey, of asset: AssetPath, for staged: StagedVersion
    ) async throws(Failure) -> RenderClaim {
        var shared: RenderRecord?
        if settings.sharesRenders {
            do throws(Failure) {
                shared = try await sharedRender(key)
            } catch {
                // The photo is rendered without the record, which is not changed.
                if error.code == .laterFormat { return .lost }
                throw error
            }
        }
        return .claimed(BucketRenderEntry(key: key, asset: asset, library: self, shared: shared))
    }

    public func removeRenderRecord(_ key: String) async throws(Failure) {
        wrongRenders.set(key, true)
        if let key = RenderKey(recorded: key) { try await removeSharedRenderRecord(key) }
    }

    /// Removes the records of shared renders that were not written for ``sharedRenderAge``. Keys within an asset are
    /// removed with their versions.
    public func removeUnusedRenderRecords() async throws(Failure) {
        try await removeObjects(LibraryKeys.rendersPrefix, olderThan: Self.sharedRenderAge)
    }

    /// Links the render of a key from another version of the same asset into a staged version.
    fileprivate func reuse(
        _ key: RenderKey, of asset: AssetPath, as stem: String, into staged: StagedVersion
    ) async throws(Failure) -> RenderedPhoto? {
        let tagged: TaggedHead
        if let known = heads[ExactName(asset)] {
            tagged = known
        } else {
            tagged = try await head(of: asset)
        }
        for entry in tagged.head.history + [tagged.head.draft].compactMap(\.self)
        where entry.renderKey == key.hex {
            guard let name = VersionName(entry.version),
                let version = try await record(name, asset),
                let content = version.content, content.rendering?.key == key.hex
            else { continue }
            let donor = RenderDonor(
                version: version, name: name, asset: asset, content: content)
            let reused = try await add(donor, as: stem, into: staged) {
                file, ours throws(Failure) in
                try await self.link(
                    .layer(asset, version: name, isDraft: version.isDraft, name: file.name),
                    as: ours, into: staged)
            }
            if let reused { return reused }
        }
        return nil
    }

    /// Adds a donor's render and previews to a staged version.
    ///
    /// - Parameter link: adds one file, under its name in the new version.
    /// - Returns: nil if the donor is damaged. No remains are left in that case.
    func add(
        _ donor: RenderDonor, as stem: String, into staged: StagedVersion,
        _ link: (RecordedFile, String) async throws(Failure) -> Void
    ) async throws(Failure) -> RenderedPhoto? {
        let files = donor.content.reusedFiles(as: stem)
        do throws(Failure) {
            for (file, ours) in files { try await link(file, ours) }
        } catch {
            // The photo is rendered, whatever the damage, so the notes are removed.
            try await offPool { () throws(Failure) in
                for (_, ours) in files { try self.unlink(ours, of: staged) }
            }
            return nil
        }
        let author = donor.version.author
        let isOurs = author.queue == staged.queue && author.job == staged.job
        return RenderedPhoto(
            donor.content, as: stem,
            from: isOurs ? nil : "\(donor.asset)@\(donor.version.version)")
    }
}

/// Parts of movies that are being rendered, as objects that the store compares with their digests.
extension BucketLibrary {
    public func readMoviePart(
        _ name: MoviePartName, into file: OpenFile
    ) async throws(Failure) -> Bool {
        let key = try keys.moviePart(name)
        try await offPool { () throws(Failure) in try file.cut(to: 0) }
        var download: (writer: RangeWriter, found: Blob)
        do throws(BlobError) {
            let found = try await store.head(key)
            var writer = RangeWriter(file, 0..<found.size, isDigested: true)
            try await writer.read(from: store, key, nil, ifMatch: found.tag)
            download = (writer, found)
        } catch {
            // Collected or replaced in the meantime.
            if error.code == .notFound || error.code == .changed { return false }
            throw error.failure()
        }
        try await download.writer.flush()
        return download.found.digest.map { $0.hex == download.writer.digest } ?? true
    }

    public func keepMoviePart(_ part: OpenFile, as name: MoviePartName) async throws(Failure) {
        let key = try keys.moviePart(name)
        let (hex, length) = try await offPool { () throws(Failure) in
            try FileDigest.sha256(of: part)
        }
        try await put(
            part, StoredDigest(sha256: hex, bytes: length), to: key, in: store,
            BlobAttributes(mediaType: "application/octet-stream"))
    }

    public func removeMovieParts(of render: RenderKey) async throws(Failure) {
        try await removeObjects(keys.moviePartsPrefix(of: render))
    }

    public func removeOldMovieParts() async throws(Failure) {
        try await removeObjects(LibraryKeys.moviePartsPrefix, olderThan: MoviePartName.age)
    }
}

/// A version whose render another version reuses.
struct RenderDonor: Sendable {
    let version: Provenance
    let name: VersionName
    let asset: AssetPath
    let content: Content
}

/// The render of a key, for one job.
private struct BucketRenderEntry: RenderEntry {
    let key: RenderKey
    let asset: AssetPath
    let library: BucketLibrary
    /// The recorded versions of all assets that have the render; nil if they are not to be used.
    let shared: RenderRecord?

    func reuse(
        as stem: String, into staged: StagedVersion
    ) async throws(Failure) -> RenderedPhoto? {
        guard library.wrongRenders[key.hex] == nil else { return nil }
        if let own = try await library.reuse(key, of: asset, as: stem, into: staged) { return own }
        guard let shared else { return nil }
        return try await library.reuse(key, recordedIn: shared, as: stem, into: staged)
    }

    func offer(
        _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure) {
        guard var shared else { return }
        shared.add(RenderRecord.Source(version, of: asset, in: staged))
        try await library.record(shared, of: key)
    }
}
