public import Adjustments
public import Editors
public import FoundationEssentials
public import Library

extension BucketLibrary {
    public func verify(
        _ asset: AssetPath, allVersions: Bool, editors: EditorRegistry, now: Date
    ) async throws(Failure) -> VerifiedFiles {
        throw Failure(.internalError, "not yet")
    }
}
