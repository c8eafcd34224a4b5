public import Edits
import Files
import SystemPackage

extension LibraryFolder {
    /// Ends the reuse of a key's render, which was found to be wrong.
    ///
    /// - Parameter key: the key as recorded in a provenance.
    public func removeRenderRecord(_ key: String) throws(Failure) {
        guard let key = RenderKey(recorded: key) else { return }
        try files.remove(path(ofRender: key.hex))
    }

    /// Removes the files of keys whose render no version has any more, except those that a job has open.
    ///
    /// So their number stays below the number of versions.
    ///
    /// - Returns: the number of removed files.
    @discardableResult
    public func removeUnusedRenderRecords() throws(Failure) -> Int {
        var count = 0
        for prefix in try files.list(renders) {
            let folder = renders.appending(prefix)
            for rest in try files.list(folder) {
                let path = folder.appending(rest)
                guard let key = RenderKey(recorded: prefix + rest),
                    case .claimed(let entry)? = try RenderFile.open(path, key, making: false, files),
                    try !isThere(entry.record)
                else { continue }
                try files.remove(path)
                count += 1
            }
        }
        return count
    }

    private func isThere(_ record: RenderRecord) throws(Failure) -> Bool {
        for source in record.sources {
            for folder in folders(of: source) where try files.isFolder(folder) { return true }
        }
        return false
    }
}
