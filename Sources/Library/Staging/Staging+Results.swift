public import Adjustments
public import Files
import SystemPackage

/// The way of a result from a render child into a version: the child gets a nameless file, and what is published is a copy
/// of it that no child has ever had open.
extension Staging {
    /// A nameless file on the disk of staging, for a child to write to.
    public func scratch(for staged: StagedVersion) throws(Failure) -> OpenFile {
        try files.faults?.reach("scratch", folder(of: staged))
        return try .nameless(in: folder(of: staged).string, name: "a result of \(staged.job)")
    }

    /// Copies a result into a staged version, as a new file, and digests it in the same pass.
    ///
    /// - Parameters:
    ///   - name: its path in the staged folder.
    ///   - bytesMax: a longer one is an `ioFailure`.
    /// - Returns: the digest in hex and the length of what was copied.
    public func take(
        _ result: OpenFile, as name: String, into staged: StagedVersion, bytesMax: Int
    ) throws(Failure) -> (hex: String, bytes: Int) {
        let path = folder(of: staged).pushing(FilePath(name))
        try files.faults?.reach("take", path)
        try files.makeFolder(path.removingLastComponent())
        return try FileCopy.copy(result, toNew: path.string, bytesMax: bytesMax)
    }
}
