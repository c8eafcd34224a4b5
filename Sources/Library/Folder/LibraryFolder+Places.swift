public import Adjustments
import Files
import SystemPackage

/// Where an asset's own entries are, and what may not be taken for them.
///
/// The folder of an asset can also be a folder of assets: once `2024` was a photo, now it is an album with
/// `2024/drafts/p1.jpg` in it. Both have entries in `edits/2024`. So an entry counts by its kind, and of versions
/// by its name, and where the two would still meet, the asset that comes second is refused.
extension LibraryFolder {
    /// The names of an asset's own entries in its folder.
    static let ownNames: Set<String> = [
        "current", "draft", "versions", "drafts", lockName, binName,
    ]
    static let lockName = "lock"
    static let binName = "bin"

    /// Whether anybody has edited an asset: it has a pointer, or a version that a crash left without one.
    ///
    /// A lock alone says nothing: earlier releases made one for each name that a job had.
    func isEdited(_ asset: AssetPath) throws(Failure) -> Bool {
        guard try files.isFolder(folder(of: asset)) else { return false }
        for shelf in Shelf.allCases where try files.linkTarget(pointer(shelf, of: asset)) != nil {
            return true
        }
        for shelf in Shelf.allCases {
            let folder = self.shelf(shelf, of: asset)
            for name in try versionNames(on: shelf, of: asset)
            where try files.exists(folder.appending(name).appending(Provenance.fileName)) {
                return true
            }
        }
        return false
    }

    /// What lies on a shelf and is named like a version.
    ///
    /// Nothing else there is touched: it is somebody else's, perhaps another asset's.
    func versionNames(on shelf: Shelf, of asset: AssetPath) throws(Failure) -> [String] {
        try files.list(self.shelf(shelf, of: asset)).filter { VersionName($0) != nil }
    }

    /// Refuses an asset whose entries would be in the way of another one's.
    ///
    /// Free for an asset that is edited, and for most others one look at a folder that is not there.
    ///
    /// - Throws: `invalidValue`, `ioFailure`.
    public func checkPlace(of asset: AssetPath) throws(Failure) {
        guard try !isEdited(asset) else { return }
        var path = FilePath(asset.string)
        while let name = path.lastComponent?.string, !path.removingLastComponent().isEmpty {
            path.removeLastComponent()
            let above = try AssetPath(path.string)
            guard Self.ownNames.contains(name), try isEdited(above) else { continue }
            throw Failure(
                .invalidValue,
                "the asset \(asset.string.debugDescription) cannot be edited: \(above.string.debugDescription) is "
                    + "an asset with versions, and \(name.debugDescription) is the name of an entry of its own. Put the "
                    + "photo into a folder of another name.")
        }
        let folder = folder(of: asset)
        guard try files.isFolder(folder) else { return }
        for name in try files.list(folder).filter(Self.ownNames.contains) {
            if try isOwn(name, in: folder) { continue }
            throw Failure(
                .invalidValue,
                "the asset \(asset.string.debugDescription) cannot be edited: \(folder.appending(name)) belongs to "
                    + "another asset, in a folder of this one's name. Give the photo another name, or move that one's "
                    + "original and folder elsewhere.")
        }
    }

    /// Whether an entry is of the kind that an asset's own one of that name is.
    private func isOwn(_ name: String, in folder: FilePath) throws(Failure) -> Bool {
        let path = folder.appending(name)
        guard try !isLeftover(path) else { return true }
        switch name {
        case Self.lockName: return try !files.isFolder(path)
        case "versions", "drafts":
            return try files.list(path).allSatisfy {
                VersionName($0) != nil
                    || Self.isConfirmation($0, on: name == "drafts" ? .drafts : .versions)
            }
        case Self.binName: return try isBin(path)
        default: return try files.linkTarget(path) != nil
        }
    }

    /// Whether an entry is what earlier releases made when a job named it as its asset: a folder with a lock, no more.
    private func isLeftover(_ path: FilePath) throws(Failure) -> Bool {
        guard try files.isFolder(path), try files.list(path) == [Self.lockName] else {
            return false
        }
        return try !files.isFolder(path.appending(Self.lockName))
    }

    /// Makes way for pointers and lock of an asset's first version.
    func removeLeftovers(of asset: AssetPath) throws(Failure) {
        for name in Shelf.allCases.map(\.pointer.string) + [Self.lockName] {
            let path = folder(of: asset).appending(name)
            if try isLeftover(path) { try files.remove(path) }
        }
    }

    /// Whether a folder is what a crash left of a version, not of an asset named `bin`.
    func isBin(_ path: FilePath) throws(Failure) -> Bool {
        for name in try files.list(path) where try files.isFolder(path.appending(name)) {
            guard name == Content.baseFolder || name == Content.previewsFolder else { return false }
        }
        return true
    }

    /// All assets that anybody has edited, sorted.
    public func assets() throws(Failure) -> [AssetPath] {
        var assets: [AssetPath] = []
        var open = [root.appending("edits")]
        let edits = root.appending("edits").components.count
        while let folder = open.popLast() {
            var names = try files.list(folder)
            if names.contains(where: Self.ownNames.contains), folder.components.count > edits {
                let path = folder.components.dropFirst(edits).map(\.string).joined(separator: "/")
                let asset = try AssetPath(path)
                if try isEdited(asset) {
                    assets.append(asset)
                    names.removeAll(where: Self.ownNames.contains)
                }
            }
            for name in names where try files.isFolder(folder.appending(name)) {
                open.append(folder.appending(name))
            }
        }
        return assets.sorted { $0.string < $1.string }
    }
}
