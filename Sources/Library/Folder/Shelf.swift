import Adjustments
import Files
import SystemPackage

/// The two kinds of versions that an asset has, each with a pointer of its own.
enum Shelf: CaseIterable {
    /// Those that were or are current.
    case versions
    /// The one that is prepared.
    case drafts

    /// The folder that holds them.
    var folder: FilePath.Component { self == .versions ? "versions" : "drafts" }

    /// The link to the one that counts.
    var pointer: FilePath.Component { self == .versions ? "current" : "draft" }
}

extension LibraryFolder {
    func pointer(_ shelf: Shelf, of asset: AssetPath) -> FilePath {
        folder(of: asset).appending(shelf.pointer)
    }

    func shelf(_ shelf: Shelf, of asset: AssetPath) -> FilePath {
        folder(of: asset).appending(shelf.folder)
    }

    func place(_ name: VersionName, on shelf: Shelf, of asset: AssetPath) -> FilePath {
        self.shelf(shelf, of: asset).appending(name.description)
    }

    /// The version that a pointer names, or nil when there is none.
    func pointed(_ shelf: Shelf, of asset: AssetPath) throws(Failure) -> VersionName? {
        let pointer = pointer(shelf, of: asset)
        guard let target = try files.linkTarget(pointer) else { return nil }
        guard let name = FilePath(target).lastComponent.flatMap({ VersionName($0.string) }) else {
            throw Failure(
                .ioFailure,
                "\(pointer) points to \(target.debugDescription), which is not the name of a version. "
                    + "Somebody else wrote it; restore or remove the link.")
        }
        return name
    }

    /// A link cannot be overwritten, but it can be renamed: so a new one is made and moved over the
    /// old.
    ///
    /// - Parameter link: where it is made: in staging, so that what a crash leaves is swept with the rest.
    func point(
        _ shelf: Shelf, of asset: AssetPath, to name: VersionName, by link: FilePath
    ) throws(Failure) {
        try files.remove(link)
        try files.point(link, to: "\(shelf.folder)/\(name)")
        try files.move(link, to: pointer(shelf, of: asset))
        try files.sync(folder(of: asset))
    }
}
