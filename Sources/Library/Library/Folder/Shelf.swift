import Edits
import Files
import SystemPackage

/// The two kinds of versions of an asset, each with its own pointer.
enum Shelf: CaseIterable {
    /// Versions that are or were current.
    case versions
    /// Drafts.
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
