public import Adjustments
import SystemPackage

extension Library {
    /// Removes the draft of an asset; where there is none, what a crash left of one.
    ///
    /// - Parameter name: only if it is this one; nil for whichever it is.
    /// - Returns: what was removed, or nil when there was nothing to remove.
    public func discardDraft(
        of asset: AssetPath, _ name: VersionName?
    ) throws(Failure) -> VersionName? {
        try locked(asset) { () throws(Failure) in
            guard let draft = try pointed(.drafts, of: asset) else {
                try clear(.drafts, of: asset, but: nil)
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
            for name in try files.list(self.shelf(.drafts, of: asset)) where name != version.version
            {
                try bin(self.shelf(.drafts, of: asset).appending(name), of: asset)
            }
        }
    }

    private func clear(
        _ shelf: Shelf, of asset: AssetPath, but kept: String?
    ) throws(Failure) {
        for name in try files.list(self.shelf(shelf, of: asset)) where name != kept {
            try bin(self.shelf(shelf, of: asset).appending(name), of: asset)
        }
    }

    private func drop(_ draft: VersionName, of asset: AssetPath) throws(Failure) {
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
        let bin = self.folder(of: asset).appending("bin")
        try files.remove(bin)
        try files.move(folder, to: bin)
        try files.remove(bin)
    }
}
