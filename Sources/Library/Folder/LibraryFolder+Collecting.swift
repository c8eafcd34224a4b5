public import Adjustments
import Files
public import FoundationEssentials
import SystemPackage

extension LibraryFolder {
    /// Removes the versions of an asset that a rule does not keep.
    ///
    /// Each goes by one `rename` under the asset's lock, the oldest first. A crash between any two steps leaves
    /// a version whole or gone. What is kept needs nothing of what goes: each version has all its layers in its
    /// own folder. Undo and redo to what is gone fail with `missingVersion`.
    ///
    /// - Parameter isDryRun: whether only to look.
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
                for folder in folders { try bin(folder, of: asset) }
                // What a crash has left of the last one.
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
        // Some may have been current, if one between them and the history was removed by hand.
        let age = max(Retention.orphanAge, retention.age ?? 0)
        var orphans: [FilePath] = []
        for shelf in Shelf.allCases {
            for name in try versionNames(on: shelf, of: asset) where !known.contains(name) {
                let folder = self.shelf(shelf, of: asset).appending(name)
                // Not a version, whatever its name: verify tells of it.
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
