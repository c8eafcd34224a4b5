import Adjustments
import BlobStore
import Files
import Library

/// Records of the versions that have a render, for all assets of a bucket; see ``RenderRecord``.
///
/// A record is a hint: the donor's provenance and the objects themselves are looked at before anything is taken over.
/// The last one written counts, and nothing is lost when all of `renders/` is removed.
extension BucketLibrary {
    /// Seconds after its last writing when a record is removed by gc: thirty days.
    static let sharedRenderAge = 30 * 86_400

    /// The versions that have a render; a record that is not there, or is damaged, names none.
    ///
    /// - Throws: `laterFormat` when a later release wrote it.
    func sharedRender(_ key: String) async throws(Failure) -> RenderRecord {
        let bytes = try await readHint(keys.render(key), atMost: RenderRecord.bytesMax)
        return if let bytes { try RenderRecord(bytes) } else { RenderRecord() }
    }

    /// All bytes of a small object; nil when it is not there, or is longer than any that we write.
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

    /// Takes a render over from one of the versions that are recorded to have it.
    ///
    /// Its files are copied by the store when the version is sealed, from the contents that are compared here.
    func reuse(
        _ key: RenderKey, recordedIn record: RenderRecord, as stem: String,
        into staged: StagedVersion
    ) async throws(Failure) -> ReusedRender? {
        for place in record.places {
            guard let donor = try await donor(key, at: place) else { continue }
            let reused = try await take(donor, as: stem, into: staged) {
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

    /// The version at a place, if it is there and has the render of a key.
    ///
    /// It is read although it may be known: what is remembered of a version outlives it.
    private func donor(
        _ key: RenderKey, at place: RenderRecord.Place
    ) async throws(Failure) -> RenderDonor? {
        guard let name = VersionName(place.version) else { return nil }
        let object: BlobKey
        do throws(Failure) {
            object = try keys.file(Provenance.fileName, of: name, place.asset)
        } catch {
            return nil  // no bucket keeps such a name: the record is damaged
        }
        guard let bytes = try await readHint(object, atMost: Provenance.fileBytesMax) else {
            return nil
        }
        let version: Provenance
        do throws(Failure) {
            version = try remember(bytes, name, place.asset)
        } catch {
            return nil  // damaged: the photo is rendered, and verify tells
        }
        guard let content = version.content, content.rendering?.key == key.hex else { return nil }
        return RenderDonor(version: version, name: name, asset: place.asset, content: content)
    }

    /// The place of a donor's file whose content is the recorded one, as far as the store tells.
    ///
    /// - Throws: `damagedVersion` when it is not.
    private func sound(
        _ file: RecordedFile, of donor: RenderDonor
    ) async throws(Failure) -> Note {
        let target = try await links(of: donor.name, donor.asset).resolve(file.name, of: donor.name)
        let object = try keys.file(target.file, of: target.version, donor.asset)
        let found = try await saying(missing: .damagedVersion) { () throws(BlobError) in
            try await self.store.head(object)
        }
        let digest = StoredDigest(
            sha256: found.digest?.hex ?? file.sha256, bytes: found.size)
        guard file.isSame(as: digest) else {
            throw Failure(.damagedVersion, "\(self.place(object)) is not what was recorded of it.")
        }
        return Note(
            asset: donor.asset, version: target.version.description, file: target.file,
            tag: found.tag.text)
    }

    /// Gives a render that was found to be wrong to nobody any more.
    func forgetSharedRender(_ key: String) async throws(Failure) {
        let name = try keys.render(key)
        do throws(BlobError) {
            _ = try await store.head(name)
        } catch {
            if error.code == .notFound { return }
            throw error.failure()
        }
        try await record(RenderRecord(), of: key)
    }

    /// Removes the records that nobody has written for ``sharedRenderAge``.
    ///
    /// - Throws: the reason why one of them is still there.
    func removeOldSharedRenders() async throws(Failure) {
        let newest = now - Self.sharedRenderAge
        try await removeObjects(LibraryKeys.rendersPrefix) { entry in
            entry.modified.map { $0.seconds < newest } ?? false
        }
    }

    /// Removes objects whose keys begin so.
    ///
    /// - Throws: the reason why one of them is still there.
    func removeObjects(
        _ prefix: String, where isOld: (BlobPage.Entry) -> Bool
    ) async throws(Failure) {
        var last: BlobKey?
        repeat {
            let place = last
            let page = try await saying { () throws(BlobError) in
                try await self.store.list(prefix, after: place)
            }
            let old = page.entries.filter(isOld)
            if !old.isEmpty {
                let left = try await saying { () throws(BlobError) in
                    try await self.store.delete(old.map(\.key))
                }
                if let reason = left.values.first { throw reason.failure() }
            }
            last = page.next
        } while last != nil
    }
}
