public import Edits
import Files
import FoundationEssentials
public import SystemPackage

extension LibraryFolder {
    /// Returns the current version of an asset; nil if the asset was never edited.
    public func current(of asset: AssetPath) throws(Failure) -> VersionName? {
        try pointed(.versions, of: asset)
    }

    /// Returns the present state of an asset.
    public func state(of asset: AssetPath) throws(Failure) -> AssetState {
        let current = try pointed(.versions, of: asset)
        let draft = try pointed(.drafts, of: asset)
        let version = try current.map { name throws(Failure) in
            try provenance(of: name, on: .versions, asset)
        }
        return AssetState(
            current: version,
            draft: try draft.map { name throws(Failure) in
                try provenance(of: name, on: .drafts, asset)
            },
            confirmed: try version.flatMap { version throws(Failure) in
                try confirmation(of: version, asset)
            })
    }

    /// Returns the provenance of a published version; nil if there is none of that name.
    public func provenance(
        of name: VersionName, _ asset: AssetPath
    ) throws(Failure) -> Provenance? {
        try files.exists(folder(name, on: .versions, of: asset))
            ? try provenance(of: name, on: .versions, asset) : nil
    }

    /// Returns the kept versions of an asset, the current one first.
    public func history(of asset: AssetPath) throws(Failure) -> [Provenance] {
        var history: [Provenance] = []
        var next = try current(of: asset)
        // The revision falls by one with each step, so the loop ends.
        while let name = next, let version = try provenance(of: name, asset) {
            history.append(version)
            next = version.parent.flatMap(VersionName.init)
        }
        return history
    }

    /// Returns the folder of a version.
    public func folder(of version: Provenance, _ asset: AssetPath) -> FilePath {
        shelf(version.isDraft ? .drafts : .versions, of: asset).appending(version.version)
    }

    /// Returns the path of a version's folder below the library's root, as used in events.
    static func path(of version: VersionName, isDraft: Bool, _ asset: AssetPath) -> String {
        "edits/\(asset)/\((isDraft ? Shelf.drafts : .versions).folder)/\(version)"
    }

    /// Returns the SHA-256 and length of a file.
    public func digest(of path: FilePath) throws(Failure) -> (hex: String, bytes: Int) {
        try FileDigest.sha256(of: path.string)
    }

    func provenance(in folder: FilePath) throws(Failure) -> Provenance {
        try Provenance(
            reading: files.read(
                Provenance.fileName, in: folder, bytesMax: Provenance.fileBytesMax),
            at: folder.appending(Provenance.fileName))
    }

    /// Returns the provenance of a version on its shelf.
    ///
    /// - Throws: `damagedVersion` if it is the provenance of another version; the failures of `provenance(in:)`.
    private func provenance(
        of name: VersionName, on shelf: Shelf, _ asset: AssetPath
    ) throws(Failure) -> Provenance {
        let folder = folder(name, on: shelf, of: asset)
        let version = try provenance(in: folder)
        guard version.version == name.description else {
            throw Failure(
                .damagedVersion,
                "the provenance in \(folder) names the version \(version.version). Restore it from a backup."
            )
        }
        return version
    }
}
