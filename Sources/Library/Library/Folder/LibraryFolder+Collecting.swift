public import Edits
import Files
public import FoundationEssentials
import SystemPackage

extension LibraryFolder {
    /// Removes the versions of an asset that a retention rule does not keep.
    ///
    /// Each version is removed by one `rename` under the asset's lock, the oldest first. After a crash between any
    /// two steps each version is complete or absent. Kept versions do not depend on removed ones, because each
    /// version has all its layers in its own folder. Undo and redo to a removed version fail with `missingVersion`.
    ///
    /// - Parameter isDryRun: whether versions are only reported, not removed.
    public func collect(
        _ asset: AssetPath, keeping retention: Retention, now: Date, isDryRun: Bool = false
    ) throws(Failure) -> Collected {
        guard try isEdited(asset) else { return Collected() }
        return try locked(asset) { () throws(Failure) in
            let history = try history(of: asset)
            let versions = retention.collectable(of: history, now: now)
            let orphans = try orphans(of: asset, history, retention, now: now)
            let folders = versions.map { folder(of: $0, asset) } + orphans
            let collected = Collected(
                versions: versions.map(\.version),
                orphans: orphans.compactMap(\.lastComponent?.string),
                bytes: try files.freedBytes(in: folders))
            if !isDryRun {
                for folder in folders { try removeVersion(folder, of: asset) }
                // Removes the remains of a collection that crashed.
                try emptyBin(of: asset)
            }
            return collected
        }
    }

    private func orphans(
        of asset: AssetPath, _ history: [Provenance], _ retention: Retention, now: Date
    ) throws(Failure) -> [FilePath] {
        let draft = try pointed(.drafts, of: asset)
        let known = Set(history.map(\.version) + [draft?.description].compactMap { $0 })
        // If a version between them and the history was removed by hand, some of these may have been current.
        let age = max(Retention.orphanAge, retention.age ?? 0)
        var orphans: [FilePath] = []
        for shelf in Shelf.allCases {
            for name in try versionNames(on: shelf, of: asset) where !known.contains(name) {
                let folder = self.shelf(shelf, of: asset).appending(name)
                // Not a version, although its name is one; `verify` reports it.
                guard try files.exists(folder.appending(Provenance.fileName)) else { continue }
                let version = try provenance(in: folder)
                guard let made = version.author.date, now.timeIntervalSince(made) > age
                else { continue }
                orphans.append(folder)
            }
        }
        return orphans
    }
}
