package import Adjustments

/// A version that is to be copied, and where its files come from.
package struct VersionCopy: Sendable, Equatable {
    /// The version.
    package let version: Provenance
    /// Its name.
    package let name: VersionName
    /// Its files, without the provenance.
    package let files: [File]

    /// A file of it.
    package struct File: Sendable, Equatable {
        /// Its record in the provenance.
        package let recorded: RecordedFile
        /// The file of an earlier version of the asset with the same bytes; nil when it is the first one.
        package let link: Link?
    }

    /// A file of another version of the same asset.
    package struct Link: Sendable, Equatable {
        /// Which version.
        package let version: VersionName
        /// Its path there.
        package let file: String
    }

    /// Its provenance's file.
    package func provenanceFile(of asset: AssetPath) -> StoredFile {
        file(Provenance.fileName, of: asset)
    }

    /// A file of it.
    package func file(_ name: String, of asset: AssetPath) -> StoredFile {
        .layer(asset, version: self.name, isDraft: version.isDraft, name: name)
    }
}

extension KeptHistory {
    /// The versions in the order in which they are copied: the oldest first, the draft last.
    ///
    /// Files with the same bytes become one: hard links in a folder, entries of `links.json` in a bucket. They are found by
    /// what the provenances record and not by what the source shares, so that a folder that lost its links in a backup
    /// gets them back.
    ///
    /// - Throws: `damagedVersion` when a version's name is none.
    package func copies() throws(Failure) -> [VersionCopy] {
        var first: [String: VersionCopy.Link] = [:]
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
                first[file.recorded.sha256] = .init(version: name, file: file.recorded.name)
            }
            copies.append(VersionCopy(version: version, name: name, files: files))
        }
        return copies
    }
}
