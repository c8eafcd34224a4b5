public import Edits
import Files
import SystemPackage

extension LibraryFolder {
    /// Removes the draft of an asset. If there is none, removes the remains of one after a crash.
    ///
    /// - Parameter name: the name that the draft must have; nil: the asset had none. A draft that came since stays.
    /// - Returns: the removed draft; nil if there was nothing to remove.
    /// - Throws: `missingAsset` if there is neither an edit nor an original; `unsupportedFormat` if the asset is a
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
                try removeDrafts(of: asset, but: nil)
                return nil
            }
            guard name == draft else { return nil }
            try removeDraft(draft, of: asset)
            return draft
        }
    }

    /// Removes the drafts that a version made obsolete when it was published: the draft that it published, or
    /// the drafts that it replaced.
    func removeObsoleteDrafts(
        after version: Provenance, on shelf: Shelf, of asset: AssetPath
    ) throws(Failure) {
        switch shelf {
        case .versions:
            guard let draft = version.draft.flatMap(VersionName.init) else { return }
            try removeDraft(draft, of: asset)
        case .drafts:
            try removeDrafts(of: asset, but: version.version)
        }
    }

    private func removeDrafts(of asset: AssetPath, but kept: String?) throws(Failure) {
        for name in try versionNames(on: .drafts, of: asset) where name != kept {
            try removeVersion(shelf(.drafts, of: asset).appending(name), of: asset)
        }
    }

    func removeDraft(_ draft: VersionName, of asset: AssetPath) throws(Failure) {
        if try pointed(.drafts, of: asset) == draft {
            try files.remove(pointer(.drafts, of: asset))
            try files.sync(folder(of: asset))
        }
        let folder = folder(draft, on: .drafts, of: asset)
        if try files.exists(folder) { try removeVersion(folder, of: asset) }
    }

    /// Removes a version's folder. It disappears at once; the remains after a crash are where the next removal or
    /// collection finds them.
    func removeVersion(_ folder: FilePath, of asset: AssetPath) throws(Failure) {
        try emptyBin(of: asset)
        let bin = self.folder(of: asset).appending(Self.binName)
        try files.move(folder, to: bin)
        try files.remove(bin)
    }

    /// Removes the remains of a removal that crashed.
    ///
    /// - Throws: `invalidValue` if there is an asset named `bin`; `ioFailure`.
    func emptyBin(of asset: AssetPath) throws(Failure) {
        let bin = folder(of: asset).appending(Self.binName)
        guard try isBin(bin) else {
            throw Failure(
                .invalidValue,
                "\(bin) has versions of another asset, so nothing of \(asset.string.debugDescription) can be "
                    + "removed. Move the folder \(asset)/\(Self.binName) of the originals, and this one, elsewhere."
            )
        }
        try files.remove(bin)
    }
}

/// The record that an edit without effect arrived last. No version is made for such an edit, so a link among the
/// versions states which version it confirmed and when it arrived.
///
/// The link names the version, so it does not apply to the next one and need not be removed. Its path cannot be
/// the folder of another asset: see ``checkEntries(of:)``.
extension LibraryFolder {
    private static let confirmedName = "confirmed"
    /// The name of a new link before it is renamed. A crash may leave it; the next confirmation removes
    /// it.
    private static let newConfirmedName = "confirmed.new"

    /// Returns whether an entry of a shelf is the link, or the remains of one after a crash.
    static func isConfirmation(_ name: String, on shelf: Shelf) -> Bool {
        shelf == .versions && (name == confirmedName || name == newConfirmedName)
    }

    /// Records that an edit requests the content that the current version already has.
    ///
    /// - Parameter arrival: the arrival of that edit, in µs since 1970.
    /// - Returns: false if another version has become current. The edit must then be planned again.
    /// - Throws: `ioFailure`.
    public func confirm(
        _ version: Provenance, of asset: AssetPath, at arrival: Int
    ) throws(Failure) -> Bool {
        try locked(asset) { () throws(Failure) in
            guard try pointed(.versions, of: asset)?.description == version.version else {
                return false
            }
            let newest = max(arrival, try confirmation(of: version, asset) ?? 0)
            guard newest > version.author.arrival ?? 0 else { return true }
            let shelf = shelf(.versions, of: asset)
            let link = shelf.appending(Self.newConfirmedName)
            try files.remove(link)
            try files.point(link, to: "\(version.version):\(newest)")
            try files.move(link, to: shelf.appending(Self.confirmedName))
            try files.sync(shelf)
            return true
        }
    }

    /// Returns the arrival of the latest edit that confirmed a version; nil if there was none.
    func confirmation(of version: Provenance, _ asset: AssetPath) throws(Failure) -> Int? {
        let link = shelf(.versions, of: asset).appending(Self.confirmedName)
        guard let target = try files.linkTarget(link) else { return nil }
        let fields = target.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count == 2, VersionName(String(fields[0])) != nil, let arrival = Int(fields[1])
        else {
            throw Failure(
                .ioFailure,
                "\(link) points to \(target.debugDescription); expected is the name of a version, a colon, and a time in "
                    + "µs. Another program wrote it; remove the link.")
        }
        return fields[0] == version.version ? arrival : nil
    }
}
