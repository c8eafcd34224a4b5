package import Edits

/// A version to copy, and the sources of its files.
package struct VersionCopy: Sendable, Equatable {
    /// The version.
    package let version: Provenance
    /// Its name.
    package let name: VersionName
    /// Its files, without the provenance.
    package let files: [File]

    /// A file of a version to copy.
    package struct File: Sendable, Equatable {
        /// Its record in the provenance.
        package let recorded: RecordedFile
        /// The file of an earlier version of the asset with the same bytes; nil if this is the first one.
        package let link: Link?
    }

    /// A file of another version of the same asset.
    package struct Link: Sendable, Equatable {
        /// The version that has the file.
        package let version: VersionName
        /// The path of the file in that version.
        package let file: String
    }

    /// Returns the file of its provenance.
    package func provenanceFile(of asset: AssetPath) -> StoredFile {
        file(Provenance.fileName, of: asset)
    }

    /// Returns one of its files.
    package func file(_ name: String, of asset: AssetPath) -> StoredFile {
        .layer(asset, version: self.name, isDraft: version.isDraft, name: name)
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
