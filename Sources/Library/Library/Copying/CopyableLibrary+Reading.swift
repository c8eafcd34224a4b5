package import Edits
package import Files
import FoundationEssentials
import SystemPackage

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
        let file = try await open(copy.provenanceFile(of: asset))
        let text = try await offPool { () throws(Failure) in
            try FileSystem().read(
                file, bytesMax: Provenance.fileBytesMax, oversized: .damagedVersion)
        }
        guard Provenance.isSealed(Data(text)),
            try Provenance(reading: text, at: FilePath(file.name)) == copy.version
        else {
            throw Failure(
                .damagedVersion,
                "\(file.name) was changed after it was written. Restore it from a backup.")
        }
        return text
    }

    /// Opens a file of a version.
    package func open(
        _ file: VersionCopy.File, of copy: VersionCopy, _ asset: AssetPath
    ) async throws(Failure) -> OpenFile {
        try await open(copy.file(file.recorded.name, of: asset))
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
