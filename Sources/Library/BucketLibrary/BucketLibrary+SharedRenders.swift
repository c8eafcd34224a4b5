import Edits
import BlobStore
import Files
import Library

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
    func sharedRender(_ key: String) async throws(Failure) -> RenderRecord {
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

    /// Writes the record of a render.
    func record(_ record: RenderRecord, of key: String) async throws(Failure) {
        let (name, bytes) = (try keys.render(key), Array(try record.encoded()))
        try await repeatably { () throws(BlobError) in
            try await self.store.put(
                name, bytes, if: .always, BlobAttributes(mediaType: "application/json"))
        }
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
        let found = try await storeCall(missing: .damagedVersion) { () throws(BlobError) in
            try await self.store.head(object)
        }
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
    func removeSharedRenderRecord(_ key: String) async throws(Failure) {
        let name = try keys.render(key)
        do throws(BlobError) {
            _ = try await store.head(name)
        } catch {
            if error.code == .notFound { return }
            throw error.failure()
        }
        try await record(RenderRecord(), of: key)
    }

    /// Removes the records that were not written for ``sharedRenderAge``.
    ///
    /// - Throws: the reason why a record could not be removed.
    func removeOldSharedRenders() async throws(Failure) {
        let newest = now - Self.sharedRenderAge
        try await removeObjects(LibraryKeys.rendersPrefix) { entry in
            entry.modified.map { $0.seconds < newest } ?? false
        }
    }

    /// Removes the objects whose keys have a prefix.
    ///
    /// - Throws: the reason why an object could not be removed.
    func removeObjects(
        _ prefix: String, where isOld: (BlobPage.Entry) -> Bool
    ) async throws(Failure) {
        var last: BlobKey?
        repeat {
            let start = last
            let page = try await storeCall { () throws(BlobError) in
                try await self.store.list(prefix, after: start)
            }
            let old = page.entries.filter(isOld)
            if !old.isEmpty {
                let left = try await storeCall { () throws(BlobError) in
                    try await self.store.delete(old.map(\.key))
                }
                if let reason = left.values.first { throw reason.failure() }
            }
            last = page.next
        } while last != nil
    }
}
