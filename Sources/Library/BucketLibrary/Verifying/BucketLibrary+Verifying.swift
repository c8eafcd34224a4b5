public import Edits
import BlobStore
public import Editors
public import FoundationEssentials
public import Library

extension BucketLibrary {
    /// The most times that an asset is checked. Each repetition means that it was changed in the meantime.
    private static let roundsMax = 3

    /// Compares the sizes and digests that the store reports. A file without a reported digest is downloaded.
    public func verify(
        _ asset: AssetPath, allVersions: Bool, editors: EditorRegistry, now: Date
    ) async throws(Failure) -> VerifiedFiles {
        var found = VerifiedFiles(report: Verification(of: asset), renders: [])
        for _ in 0..<Self.roundsMax {
            let tagged = try await head(of: asset)
            guard tagged.tag != nil else {
                let key = try keys.original(of: asset)
                _ = try await storeCall(missing: .missingAsset) { () throws(BlobError) in
                    try await originals.head(key)
                }
                return found
            }
            var check = BucketVerification(library: self, asset: asset, editors: editors)
            found = try await check.verify(tagged.head, allVersions: allVersions, now: now)
            // A problem with an asset that was changed during the check may not be real.
            guard !found.report.isSound, try await head(of: asset).tag != tagged.tag else { break }
        }
        return found
    }
}
