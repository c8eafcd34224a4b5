import Adjustments

/// All that a library keeps of an asset's edits, as it was at one moment.
package struct KeptHistory: Sendable, Equatable {
    /// The published versions, the current one first, as far back as they are kept.
    package let versions: [Provenance]
    /// The version that is prepared and not published.
    package let draft: Provenance?
    /// When the edit arrived that readers see, in µs since 1970.
    package let arrival: Int

    package init(versions: [Provenance], draft: Provenance?, arrival: Int = 0) {
        (self.versions, self.draft, self.arrival) = (versions, draft, arrival)
    }

    /// The version that readers see; nil for the original.
    package var current: Provenance? { versions.first }

    /// The SHA-256 of the original that readers' version was made of; nil when they see the original itself.
    package var originalDigest: String? { current?.content?.source.sha256 }
}

/// The fate of an asset's head at the target of a copy.
package enum HeadAdvance: Sendable, Equatable {
    /// It is the source's already.
    case same
    /// It is an earlier one of the same history, or there is none: it becomes the source's.
    case advanced
    /// It is somebody else's: it stays. The sentence says why.
    case differs(String)
}

extension KeptHistory {
    /// Decides whether this history may take the place of what a target has.
    ///
    /// - Parameters:
    ///   - current: the version that is current there; nil when none is.
    ///   - draft: the draft there.
    package func over(current: String?, draft: String?) -> HeadAdvance {
        if current == self.current?.version, draft == self.draft?.version { return .same }
        if let current, current != self.current?.version, !isBehind(current) {
            return .differs(
                "the copy has the version \(current), and the source has "
                    + "\(self.current?.version ?? "none"), whose history does not have it: the copy was edited on its own, or "
                    + "is of another library. Revert to one of them by hand, or copy to an empty place."
            )
        }
        if let draft, draft != self.draft?.version, !drafts.contains(draft) {
            return .differs(
                "the copy has the draft \(draft), which the source does not know. Discard it there, and copy again."
            )
        }
        return .advanced
    }

    /// Whether a version was current before ours.
    private func isBehind(_ name: String) -> Bool {
        guard let current, let version = VersionName(name), version.revision < current.revision
        else { return false }
        return versions.contains { $0.version == name } || versions.last?.parent == name
            || jobs.contains(name)
    }

    /// The drafts that this history has, has published, or remembers.
    private var drafts: Set<String> { jobs.union(versions.compactMap(\.draft)) }

    /// The versions of the jobs that it remembers.
    private var jobs: Set<String> {
        Set([draft, current].compactMap(\.self).flatMap { $0.published ?? [] }.map(\.version))
    }
}
