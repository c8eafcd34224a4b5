public import Edits
import Files
import FoundationEssentials
public import SystemPackage

extension LibraryFolder {
    /// Returns the current version of an asset; nil if the asset was never edited.
    public func current(of asset: AssetPath) throws(Failure) -> VersionName? {
        try pointed(.versions, of: asset)
    }

    /// Returns the present state of an asset.
    public func state(of asset: AssetPath) throws(Failure) -> AssetState {
        let current = try pointed(.versions, of: asset)
        let draft = try pointed(.drafts, of: asset)
        let version = try current.map { name throws(Failure) in
            try provenance(of: name, on: .versions, asset)
        }
        return AssetState(
            current: version,
            draft: try draft.map { name throws(Failure) in
                try provenance(of: name, on: .drafts, asset)
            },
            confirmed: try version.flatMap { version throws(Failure) in
                try confirmation(of: version, asset)
            })
    }

    /// Returns the provenance of a published version; nil if there is none of that name.
    public func provenance(
        of name: VersionName, _ asset: AssetPath
    ) throws(Failure) -> Provenance? {
        try files.exists(folder(name, on: .versions, of: asset))
            ? try provenance(of: name, on: .versions, asset) : nil
    }

    /// Returns the kept versions of an asset, the current one first.
    public func history(of asset: AssetPath) throws(Failure) -> [Provenance] {
        var history: [Provenance] = []
        var next = try current(of: asset)
        // The revision falls by one with each step, so the loop ends.
        while let name = next, let version = try provenance(of: name, asset) {
            history.append(version)
            next = version.parent.flatMap(VersionName.init)
        }
        return history
    }

    public func folder(of version: Provenance, _ asset: AssetPath) -> FilePath {
        shelf(version.isDraft ? .drafts : .versions, of: asset).appending(version.version)
    }

    /// Returns the path of a version's folder below the library's root, as used in events.
    static func path(of version: VersionName, isDraft: Bool, _ asset: AssetPath) -> String {
        "edits/\(asset)/\((isDraft ? Shelf.drafts : .versions).folder)/\(version)"
    }

    /// Returns the SHA-256 and length of a file.
    public func digest(of path: FilePath) throws(Failure) -> (hex: String, bytes: Int) {
        try FileDigest.sha256(of: path.string)
    }

    func provenance(in folder: FilePath) throws(Failure) -> Provenance {
        try Provenance(
            reading: files.read(
                Provenance.fileName, in: folder, bytesMax: Provenance.fileBytesMax),
            at: folder.appending(Provenance.fileName))
    }

    /// Returns the provenance of a version on its shelf.
    ///
    /// - Throws: `damagedVersion` if it is the provenance of another version; the failures of `provenance(in:)`.
    private func provenance(
        of name: VersionName, on shelf: Shelf, _ asset: AssetPath
    ) throws(Failure) -> Provenance {
        let folder = folder(name, on: shelf, of: asset)
        let version = try provenance(in: folder)
        guard version.version == name.description else {
            throw Failure(
                .damagedVersion,
                "the provenance in \(folder) names the version \(version.version). Restore it from a backup."
            )
        }
        return version
    }
}

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

/// The two kinds of versions of an asset, each with its own pointer.
enum Shelf: CaseIterable {
    /// Versions that are or were current.
    case versions
    case drafts

    /// The folder of these versions.
    var folder: FilePath.Component { self == .versions ? "versions" : "drafts" }

    /// The link to the current one.
    var pointer: FilePath.Component { self == .versions ? "current" : "draft" }
}

extension LibraryFolder {
    func pointer(_ shelf: Shelf, of asset: AssetPath) -> FilePath {
        folder(of: asset).appending(shelf.pointer)
    }

    func shelf(_ shelf: Shelf, of asset: AssetPath) -> FilePath {
        folder(of: asset).appending(shelf.folder)
    }

    func folder(_ name: VersionName, on shelf: Shelf, of asset: AssetPath) -> FilePath {
        self.shelf(shelf, of: asset).appending(name.description)
    }

    /// Returns the version that a pointer names; nil if there is no pointer.
    func pointed(_ shelf: Shelf, of asset: AssetPath) throws(Failure) -> VersionName? {
        let pointer = pointer(shelf, of: asset)
        guard let target = try files.linkTarget(pointer) else { return nil }
        guard let name = FilePath(target).lastComponent.flatMap({ VersionName($0.string) }) else {
            throw Failure(
                .ioFailure,
                "\(pointer) points to \(target.debugDescription), which is not the name of a version. "
                    + "Another program wrote it; restore or remove the link.")
        }
        return name
    }

    /// Sets a pointer. A link cannot be overwritten, so a new one is created and renamed over the old one.
    ///
    /// - Parameter link: the path at which the new link is created: in staging, so that a sweep removes the remains
    ///   after a crash.
    func point(
        _ shelf: Shelf, of asset: AssetPath, to name: VersionName, by link: FilePath
    ) throws(Failure) {
        try files.remove(link)
        try files.point(link, to: "\(shelf.folder)/\(name)")
        try files.move(link, to: pointer(shelf, of: asset))
        try files.sync(folder(of: asset))
    }
}
