import Edits
import BlobStore
import Library

/// The checks of a version's files: extra objects, and the files that the provenance records.
extension BucketVerification {
    mutating func checkFiles(
        of version: Provenance, _ stored: StoredVersion?
    ) async throws(Failure) {
        let known = Set(
            (version.content?.fileNames ?? []) + [Provenance.fileName, LibraryKeys.linksFile])
        for key in stored?.keys ?? [] {
            guard let file = library.keys.version(of: key, asset)?.file, !known.contains(file)
            else {
                continue
            }
            files.report.add(
                problem: .stray, library.location(key),
                "the version does not have such a file. Move it away.")
        }
        try await files.check(version)
    }
}

extension BucketLibrary {
    /// The properties of a bucket: objects are named by their URLs. A store that does not answer is not a finding
    /// about a file, so it ends the check.
    var verifying: VersionFiles.Store {
        VersionFiles.Store(
            location: { file throws(Failure) in try await self.location(of: file) },
            isFinding: { $0.code == .damagedVersion })
    }
}
