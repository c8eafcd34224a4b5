public import Edits
import Files
import SystemPackage

/// The names of an asset's own entries, and the rules that distinguish them from other entries.
///
/// The folder of an asset can also be a folder of assets: `2024` was once a photo and is now an album with
/// `2024/drafts/p1.jpg` in it. Both have entries in `edits/2024`. So an entry is recognised by its kind, and a
/// version also by its name. If the two would still collide, the second asset is refused.
extension LibraryFolder {
    /// The names of an asset's own entries in its folder.
    static let ownNames: Set<String> = [
        "current", "draft", "versions", "drafts", lockName, binName,
    ]
    static let lockName = "lock"
    static let binName = "bin"

    /// Returns whether an asset was ever edited: it has a pointer, or a version that a crash left without one.
    ///
    /// A lock alone does not count: earlier releases created one for each asset that a job named.
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

    /// Returns the entries of a shelf whose names are names of versions.
    ///
    /// Other entries are left alone, because they may belong to another asset.
    func versionNames(on shelf: Shelf, of asset: AssetPath) throws(Failure) -> [String] {
        try files.list(self.shelf(shelf, of: asset)).filter { VersionName($0) != nil }
    }

    /// Refuses an asset whose entries would collide with those of another asset.
    ///
    /// It costs nothing for an edited asset, and for most others one check for a folder that does not exist.
    ///
    /// - Throws: `invalidValue`, `ioFailure`.
    public func checkEntries(of asset: AssetPath) throws(Failure) {
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

    /// Returns whether an entry has the kind of an asset's own entry with that name.
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

    /// Returns whether an entry is the remains of earlier releases for an asset that a job named: a folder with
    /// only a lock.
    private func isLeftover(_ path: FilePath) throws(Failure) -> Bool {
        guard try files.isFolder(path), try files.list(path) == [Self.lockName] else {
            return false
        }
        return try !files.isFolder(path.appending(Self.lockName))
    }

    /// Removes such remains where the pointers and the lock of an asset's first version will be.
    func removeLeftovers(of asset: AssetPath) throws(Failure) {
        for name in Shelf.allCases.map(\.pointer.string) + [Self.lockName] {
            let path = folder(of: asset).appending(name)
            if try isLeftover(path) { try files.remove(path) }
        }
    }

    /// Returns whether a folder is the remains of a version after a crash, and not of an asset named `bin`.
    func isBin(_ path: FilePath) throws(Failure) -> Bool {
        for name in try files.list(path) where try files.isFolder(path.appending(name)) {
            guard name == Content.baseFolder || name == Content.previewsFolder else { return false }
        }
        return true
    }

    /// Returns all edited assets, sorted.
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
