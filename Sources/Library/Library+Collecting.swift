public import Adjustments
public import FoundationEssentials
import SystemPackage

/// What a collection removed, or would remove.
public struct Collected: Sendable, Equatable, Codable {
    /// The versions, oldest first.
    public var versions: [String] = []
    /// Folders of versions that never became current, left by jobs that lost a race or crashed.
    public var orphans: [String] = []
    /// Bytes that get free; what other versions share is not counted.
    public var bytes = 0
}

extension Library {
    /// How old a version that never became current is before it is removed: its job has ended long ago.
    static let orphanAge: TimeInterval = 24 * 3600

    /// Removes the versions of an asset that a rule does not keep.
    ///
    /// Each goes by one `rename` under the asset's lock, the oldest first. A crash between any two steps leaves
    /// a version whole or gone.
    ///
    /// - Parameter isDryRun: whether only to look.
    public func collect(
        _ asset: AssetPath, keeping retention: Retention, now: Date, isDryRun: Bool = false
    ) throws(Failure) -> Collected {
        try locked(asset) { () throws(Failure) in
            var collection = Collected()
            let history = try history(of: asset)
            for version in retention.collectable(of: history, now: now) {
                let folder = folder(of: version, asset)
                collection.versions.append(version.version)
                collection.bytes += try files.ownBytes(in: folder)
                if !isDryRun { try bin(folder, of: asset) }
            }
            for folder in try orphans(of: asset, history, now: now) {
                collection.orphans.append(folder.lastComponent?.string ?? folder.string)
                collection.bytes += try files.ownBytes(in: folder)
                if !isDryRun { try bin(folder, of: asset) }
            }
            if !isDryRun { try files.remove(self.folder(of: asset).appending("bin")) }
            return collection
        }
    }

    private func orphans(
        of asset: AssetPath, _ history: [Provenance], now: Date
    ) throws(Failure) -> [FilePath] {
        let draft = try pointed(.drafts, of: asset)
        let known = Set(history.map(\.version) + [draft?.description].compactMap { $0 })
        var orphans: [FilePath] = []
        for shelf in Shelf.allCases {
            for name in try files.list(self.shelf(shelf, of: asset)) where !known.contains(name) {
                let folder = self.shelf(shelf, of: asset).appending(name)
                let version = try provenance(in: folder)
                guard let made = version.author.date,
                    now.timeIntervalSince(made) > Self.orphanAge
                else { continue }
                orphans.append(folder)
            }
        }
        return orphans
    }
}
