public import Edits
public import Files
import SystemPackage

/// The transfer of a result from a render child into a version. The child writes to a nameless file, and the
/// published file is a copy of it that no child ever had open.
extension Staging {
    /// Creates a nameless file on the disk of staging, for a child to write to.
    public func scratch(for staged: StagedVersion) throws(Failure) -> OpenFile {
        try files.faults?.reach("scratch", folder(of: staged))
        return try .nameless(in: folder(of: staged).string, name: "a result of \(staged.job)")
    }

    /// Copies a result into a staged version as a new file, and computes its digest in the same pass.
    ///
    /// - Parameters:
    ///   - name: its path in the staged folder.
    ///   - bytesMax: the largest length; a longer result is an `ioFailure`.
    /// - Returns: the digest in hex and the length of the copy.
    public func copy(
        _ result: OpenFile, as name: String, into staged: StagedVersion, bytesMax: Int
    ) throws(Failure) -> (hex: String, bytes: Int) {
        let path = folder(of: staged).pushing(FilePath(name))
        try files.faults?.reach("copy", path)
        try files.makeFolder(path.removingLastComponent())
        return try FileCopy.copy(result, toNew: path.string, bytesMax: bytesMax)
    }
}
