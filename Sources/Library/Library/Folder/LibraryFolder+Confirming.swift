public import Edits
import Files
import SystemPackage

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
