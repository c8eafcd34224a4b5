package import Edits

/// All the versions that a library keeps of an asset, at one moment.
package struct KeptHistory: Sendable, Equatable {
    /// The kept published versions, the current one first.
    package let versions: [Provenance]
    /// The draft: a version that is prepared and not published.
    package let draft: Provenance?
    /// The arrival of the edit that readers see, in µs since 1970.
    package let arrival: Int

    package init(versions: [Provenance], draft: Provenance?, arrival: Int = 0) {
        (self.versions, self.draft, self.arrival) = (versions, draft, arrival)
    }

    /// The version that readers see; nil if they see the original.
    package var current: Provenance? { versions.first }

    /// The SHA-256 of the original from which the current version was made; nil if readers see the original itself.
    package var originalDigest: String? { current?.content?.source.sha256 }
}

/// The outcome of a copy for the head of an asset at the target.
package enum HeadAdvance: Sendable, Equatable {
    /// The target's head equals the source's.
    case same
    /// The target's head is an earlier one of the same history, or missing. It is replaced by the source's.
    case advanced
    /// The target's head belongs to another history and is kept. The string is the reason.
    case differs(String)
}

extension KeptHistory {
    /// Decides whether this history may replace the target's state.
    ///
    /// - Parameters:
    ///   - current: the current version of the target; nil if there is none.
    ///   - draft: the draft of the target.
    package func over(current: String?, draft: String?) -> HeadAdvance {
        if current == self.current?.version, draft == self.draft?.version { return .same }
        if let current, current != self.current?.version, !isBehind(current) {
            return .differs(
                "the copy has the version \(current), and the source has "
                    + "\(self.current?.version ?? "none"), whose history does not have it: the copy was edited on its own, or "
                    + "is of another library. Revert to one of them by hand, or copy to an empty folder or prefix."
            )
        }
        if let draft, draft != self.draft?.version, !drafts.contains(draft) {
            return .differs(
                "the copy has the draft \(draft), which the source does not know. Discard it there, and copy again."
            )
        }
        return .advanced
    }

    /// Returns whether a version was current before the current one of this history.
    private func isBehind(_ name: String) -> Bool {
        guard let current, let version = VersionName(name), version.revision < current.revision
        else { return false }
        return versions.contains { $0.version == name } || versions.last?.parent == name
            || jobs.contains(name)
    }

    /// The drafts of this history: present, published, or listed in its jobs.
    private var drafts: Set<String> { jobs.union(versions.compactMap(\.draft)) }

    /// The versions of the jobs that this history lists.
    private var jobs: Set<String> {
        [draft, current].compactMap { $0?.publishedJobs?.versions }.reduce([]) { $0.union($1) }
    }
}

/// A version to copy, and the sources of its files.
package struct VersionCopy: Sendable, Equatable {
    package let version: Provenance
    package let name: VersionName
    /// Its files, without the provenance.
    package let files: [File]

    /// A file of a version to copy.
    package struct File: Sendable, Equatable {
        package let recorded: RecordedFile
        /// The file of an earlier version of the asset with the same bytes; nil if this is the first one.
        package let link: VersionFile?
    }

    package func file(_ name: String, of asset: AssetPath) -> StoredFile {
        .layer(asset, version: self.name, isDraft: version.isDraft, name: name)
    }

    /// The failure if the target has another version of its name.
    package func clash(at location: String) -> Failure {
        Failure(
            .damagedVersion,
            "\(location) is of another version than the source's of this name. Move it away, and copy again."
        )
    }
}

extension KeptHistory {
    /// Returns the versions in the order of copying: the oldest first, the draft last.
    ///
    /// Files with the same bytes are stored once: as hard links in a folder, as entries of `links.json` in a
    /// bucket. They are found by the records of the provenances, not by the links of the source, so that a folder
    /// that lost its links in a backup gets them again.
    ///
    /// - Throws: `damagedVersion` if a version's name is invalid.
    package func copies() throws(Failure) -> [VersionCopy] {
        var first: [String: VersionFile] = [:]
        var copies: [VersionCopy] = []
        for version in versions.reversed() + [draft].compactMap(\.self) {
            guard let name = VersionName(version.version) else {
                throw Failure(
                    .damagedVersion,
                    "\(version.version.debugDescription) is no name of a version. Restore it from a backup."
                )
            }
            let files = (version.content?.recordedFiles ?? []).map {
                VersionCopy.File(recorded: $0, link: first[$0.sha256])
            }
            for file in files where first[file.recorded.sha256] == nil {
                first[file.recorded.sha256] = VersionFile(file.recorded.name, of: name)
            }
            copies.append(VersionCopy(version: version, name: name, files: files))
        }
        return copies
    }
}
