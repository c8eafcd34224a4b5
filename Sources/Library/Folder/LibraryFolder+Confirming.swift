public import Adjustments
import Files
import SystemPackage

/// How an edit that finds nothing to change counts as the one that arrived last: no version tells of it, so a link
/// among the versions says that the current one was confirmed, and when that edit had arrived.
///
/// The link names the version, so it says nothing of the next one and need not be removed. It lies where no other asset can
/// have its folder: see ``checkPlace(of:)``.
extension LibraryFolder {
    private static let confirmedName = "confirmed"
    /// The link before it is moved to its name. A crash may leave it; the next confirmation removes it.
    private static let newConfirmedName = "confirmed.new"

    /// Whether an entry of a shelf is the link, or what a crash left of one.
    static func isConfirmation(_ name: String, on shelf: Shelf) -> Bool {
        shelf == .versions && (name == confirmedName || name == newConfirmedName)
    }

    /// Notes that an edit asks for what the current version shows.
    ///
    /// - Parameter arrival: when that edit arrived, in µs since 1970.
    /// - Returns: false when another version became current since: the edit is to be looked at again.
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

    /// When the latest edit arrived that found a version to be what it asks for; nil when there was none.
    func confirmation(of version: Provenance, _ asset: AssetPath) throws(Failure) -> Int? {
        let link = shelf(.versions, of: asset).appending(Self.confirmedName)
        guard let target = try files.linkTarget(link) else { return nil }
        let words = target.split(separator: ":", omittingEmptySubsequences: false)
        guard words.count == 2, VersionName(String(words[0])) != nil, let arrival = Int(words[1])
        else {
            throw Failure(
                .ioFailure,
                "\(link) points to \(target.debugDescription); expected is the name of a version, a colon, and a time in "
                    + "µs. Somebody else wrote it; remove the link.")
        }
        return words[0] == version.version ? arrival : nil
    }
}
