import Edits
import Library

extension AssetHead {
    /// The versions of an asset from another library.
    struct CopiedVersions: Sendable {
        /// The published versions, the current one first, at most ``historyMax``.
        let entries: [Entry]
        /// The revision of the oldest kept version.
        let floor: Int
        /// The current version; nil if readers see the original.
        let current: SealedVersion?
        /// The draft.
        let draft: SealedVersion?
    }

    /// Returns the head with the versions of another library instead of its own.
    ///
    /// - Throws: `revisionConflict` if one of them is being removed from this library.
    func copying(
        _ copied: CopiedVersions, of asset: AssetPath, now: Int
    ) throws(Failure) -> AssetHead {
        let entries =
            copied.entries + [copied.draft].compactMap { $0.map { Entry($0.provenance, $0.links) } }
        let names = entries.flatMap { [$0.version] + $0.links }
        if let name = names.first(where: isTrash) {
            throw Failure(
                .revisionConflict,
                "minilab gc removes the version \(name) of \(asset) at the copy: copy again when it has been "
                    + "removed, after "
                    + "\(Self.readerGrace / 3600) hours and another gc.")
        }
        return changed { head in
            let before = head.draft?.version
            if let current = copied.current, head.current != current.provenance.version {
                head.keep(0, floor: copied.floor)
                head.setOlder(Array(copied.entries.dropFirst()))
                head.setCurrent(current)
            }
            guard before != copied.draft?.provenance.version else { return }
            head.setDraft(copied.draft)
            head.moveDraftToTrash(before, at: now)
        }
    }
}
