package import Edits
package import Files

/// A library that can be the source or the target of a copy.
///
/// Existing files are no error: the target itself is the state of a copy, so an interrupted copy is simply started
/// again.
package protocol CopyableLibrary: LibraryStore {
    // MARK: As the source

    /// Lists all files below the originals, in the byte order of their names, one page at a time.
    func originals(
        _ page: (OriginalsPage) async throws(Failure) -> Void
    ) async throws(Failure)
    func isEdited(_ asset: AssetPath) async throws(Failure) -> Bool

    // MARK: As the target

    /// Removes the unfinished files of copies that were killed.
    func sweepCopies() async throws(Failure)
    /// Adds an original, atomically. The name must be free.
    ///
    /// - Parameter digest: the digest of the source's bytes. If the stored bytes have another digest, the call
    ///   fails.
    func copy(
        original source: OpenFile, _ digest: StoredDigest, of asset: AssetPath
    ) async throws(Failure)
    /// Adds the missing files of a version, its provenance last, to where ``advance(_:to:)`` expects
    /// them.
    ///
    /// - Parameter source: the library with the files.
    /// - Throws: `damagedVersion` if a file of the source differs from its record, or if the target has another
    ///   version with this name.
    func copy(
        _ version: VersionCopy, of asset: AssetPath, from source: any CopyableLibrary
    ) async throws(Failure) -> CopyTally
    /// Makes the versions of a history those of the asset, atomically, if ``KeptHistory/over(current:draft:)``
    /// allows it.
    func advance(
        _ asset: AssetPath, to history: KeptHistory
    ) async throws(Failure) -> HeadAdvance
}

/// A page of the files below a library's originals.
package struct OriginalsPage: Sendable, Equatable {
    /// The files whose names are valid names of assets.
    package var assets: [AssetPath] = []
    /// The files whose names are not valid for an asset, each with the reason.
    package var refused: [Refused] = []

    /// A file that cannot be an original.
    package struct Refused: Sendable, Equatable {
        /// Its path below the originals.
        package let name: String
        package let failure: Failure
    }

    package init() {}

    /// Adds a file.
    ///
    /// - Parameter name: its path below the originals.
    package mutating func add(_ name: String) {
        do throws(Failure) {
            assets.append(try AssetPath(name))
        } catch {
            refused.append(Refused(name: name, failure: error))
        }
    }
}

/// The numbers of files and bytes that a copy wrote or found.
package struct CopyTally: Sendable, Equatable, Encodable {
    /// The number of written files.
    package var filesCopied = 0
    /// The bytes of the written files.
    package var bytesCopied = 0
    /// The number of files that existed with the same bytes.
    package var filesSkipped = 0
    /// The bytes of the existing files.
    package var bytesSkipped = 0

    package init() {}

    /// Counts a written file.
    package mutating func copied(_ bytes: Int) {
        filesCopied += 1
        bytesCopied += bytes
    }

    /// Counts an existing file.
    package mutating func skipped(_ bytes: Int) {
        filesSkipped += 1
        bytesSkipped += bytes
    }

    /// Adds the numbers of another tally.
    package mutating func add(_ other: CopyTally) {
        filesCopied += other.filesCopied
        bytesCopied += other.bytesCopied
        filesSkipped += other.filesSkipped
        bytesSkipped += other.bytesSkipped
    }
}

extension CopyableLibrary {
    /// The most times that a history is read. Each repetition means that a version was published in the meantime.
    private static var readsMax: Int { 8 }

    /// Returns the history of an asset, consistent at one moment.
    package func kept(of asset: AssetPath) async throws(Failure) -> KeptHistory {
        for _ in 0..<Self.readsMax {
            let before = try await state(of: asset)
            let versions = try await history(of: asset)
            let after = try await state(of: asset)
            guard before == after, versions.first?.version == after.current?.version else {
                continue
            }
            return KeptHistory(versions: versions, draft: after.draft, arrival: after.arrival)
        }
        throw Failure(
            .ioFailure,
            "\(asset.string.debugDescription) changed each of the \(Self.readsMax) times it was read. Copy again."
        )
    }

    /// Returns the provenance of a version, byte for byte.
    ///
    /// - Throws: `damagedVersion` if it was changed after it was written.
    package func provenanceText(
        of copy: VersionCopy, _ asset: AssetPath
    ) async throws(Failure) -> [UInt8] {
        let file = try await open(copy.file(Provenance.fileName, of: asset))
        let text = try await offPool { () throws(Failure) in
            try FileSystem().read(
                file, bytesMax: Provenance.fileBytesMax, oversized: .damagedVersion)
        }
        guard Provenance.isSealed(text),
            try Provenance(reading: text, at: file.name) == copy.version
        else {
            throw Failure(
                .damagedVersion,
                "\(file.name) was changed after it was written. Restore it from a backup.")
        }
        return text
    }
}

extension RecordedFile {
    /// Rejects bytes that differ from the record.
    ///
    /// - Parameter location: the name of the file in the message.
    /// - Throws: `damagedVersion`.
    package func check(_ found: StoredDigest, _ location: String) throws(Failure) {
        guard !isSame(as: found) else { return }
        throw Failure(
            .damagedVersion,
            "the \(found.bytes) bytes of \(location) are not those that were recorded: SHA-256 \(found.sha256), expected "
                + "\(sha256). Restore it from a backup.")
    }
}
