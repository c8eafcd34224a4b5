public import Adjustments
import Files
import SystemPackage

extension LibraryFolder {
    /// Removes the draft of an asset; where there is none, what a crash left of one.
    ///
    /// - Parameter name: only if it is this one; nil for whichever it is.
    /// - Returns: what was removed, or nil when there was nothing to remove.
    /// - Throws: `missingAsset` when there is neither an edit nor an original; `unsupportedFormat` when the asset is a
    ///   folder; `ioFailure`.
    public func discardDraft(
        of asset: AssetPath, _ name: VersionName?
    ) throws(Failure) -> VersionName? {
        guard try isEdited(asset) else {
            _ = try original(of: asset)
            return nil
        }
        return try locked(asset) { () throws(Failure) in
            guard let draft = try pointed(.drafts, of: asset) else {
                try clearDrafts(of: asset, but: nil)
                return nil
            }
            guard name == nil || name == draft else { return nil }
            try drop(draft, of: asset)
            return draft
        }
    }

    /// Removes what a version that is now in place has made needless: the draft that it published, or the
    /// drafts that it took the place of.
    func tidy(
        after version: Provenance, on shelf: Shelf, of asset: AssetPath
    ) throws(Failure) {
        switch shelf {
        case .versions:
            guard let draft = version.draft.flatMap(VersionName.init) else { return }
            try drop(draft, of: asset)
        case .drafts:
            try clearDrafts(of: asset, but: version.version)
        }
    }

    private func clearDrafts(of asset: AssetPath, but kept: String?) throws(Failure) {
        for name in try versionNames(on: .drafts, of: asset) where name != kept {
            try bin(shelf(.drafts, of: asset).appending(name), of: asset)
        }
    }

    func drop(_ draft: VersionName, of asset: AssetPath) throws(Failure) {
        if try pointed(.drafts, of: asset) == draft {
            try files.remove(pointer(.drafts, of: asset))
            try files.sync(folder(of: asset))
        }
        let folder = place(draft, on: .drafts, of: asset)
        if try files.exists(folder) { try bin(folder, of: asset) }
    }

    /// Removes a version's folder: it goes at once, and what a crash leaves of it lies where the next removal
    /// or collection finds it.
    func bin(_ folder: FilePath, of asset: AssetPath) throws(Failure) {
        try emptyBin(of: asset)
        let bin = self.folder(of: asset).appending(Self.binName)
        try files.move(folder, to: bin)
        try files.remove(bin)
    }

    /// Removes what a crash left of a removal.
    ///
    /// - Throws: `invalidValue` when an asset named `bin` is there; `ioFailure`.
    func emptyBin(of asset: AssetPath) throws(Failure) {
        let bin = folder(of: asset).appending(Self.binName)
        guard try isBin(bin) else {
            throw Failure(
                .invalidValue,
                "\(bin) holds versions of another asset, so nothing of \(asset.string.debugDescription) can be "
                    + "removed. Move the folder \(asset)/\(Self.binName) of the originals, and this one, elsewhere."
            )
        }
        try files.remove(bin)
    }
}
