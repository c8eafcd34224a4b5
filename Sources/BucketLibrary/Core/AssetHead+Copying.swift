import Adjustments
import Library

extension AssetHead {
    /// The versions of an asset that came from another library.
    struct CopiedVersions: Sendable {
        /// The published ones, the current one first, at most ``historyMax``.
        let entries: [Entry]
        /// The revision of the oldest that is kept.
        let floor: Int
        /// The current one; nil when readers see the original.
        let current: SealedVersion?
        /// The draft.
        let draft: SealedVersion?
    }

    /// The head with the versions of another library in place of its own.
    ///
    /// - Throws: `revisionConflict` when one of them is being removed here.
    func copying(
        _ copied: CopiedVersions, of asset: AssetPath, now: Int
    ) throws(Failure) -> AssetHead {
        let entries =
            copied.entries + [copied.draft].compactMap { $0.map { Entry($0.provenance, $0.links) } }
        let names = entries.flatMap { [$0.version] + $0.links }
        if let name = names.first(where: isTrash) {
            throw Failure(
                .revisionConflict,
                "minilab gc removes the version \(name) of \(asset) at the copy: copy again when it is gone, after "
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
            head.drop(before, at: now)
        }
    }
}
