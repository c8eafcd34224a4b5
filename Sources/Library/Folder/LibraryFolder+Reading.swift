public import Adjustments
import Files
import FoundationEssentials
public import SystemPackage

extension LibraryFolder {
    /// The current version of an asset, or nil when nobody has edited it.
    public func current(of asset: AssetPath) throws(Failure) -> VersionName? {
        try pointed(.versions, of: asset)
    }

    /// What an asset is now.
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

    /// The provenance of a published version, or nil when there is none of that name.
    public func provenance(
        of name: VersionName, _ asset: AssetPath
    ) throws(Failure) -> Provenance? {
        try files.exists(place(name, on: .versions, of: asset))
            ? try provenance(of: name, on: .versions, asset) : nil
    }

    /// The versions of an asset, the current one first, as far back as they are kept.
    public func history(of asset: AssetPath) throws(Failure) -> [Provenance] {
        var history: [Provenance] = []
        var next = try current(of: asset)
        // Revisions fall by one with each step, so this ends.
        while let name = next, let version = try provenance(of: name, asset) {
            history.append(version)
            next = version.parent.flatMap(VersionName.init)
        }
        return history
    }

    /// The folder of a version.
    public func folder(of version: Provenance, _ asset: AssetPath) -> FilePath {
        shelf(version.isDraft ? .drafts : .versions, of: asset).appending(version.version)
    }

    /// The same below the library's root, as events name it.
    static func path(of version: VersionName, isDraft: Bool, _ asset: AssetPath) -> String {
        "edits/\(asset)/\((isDraft ? Shelf.drafts : .versions).folder)/\(version)"
    }

    /// SHA-256 and length of a file.
    public func digest(of path: FilePath) throws(Failure) -> (hex: String, bytes: Int) {
        try FileDigest.sha256(of: path.string)
    }

    func provenance(in folder: FilePath) throws(Failure) -> Provenance {
        try Provenance(
            reading: files.read(
                Provenance.fileName, in: folder, bytesMax: Provenance.fileBytesMax),
            at: folder.appending(Provenance.fileName))
    }

    /// The provenance of a version that is in its place.
    ///
    /// - Throws: `damagedVersion` when it is another version's, and as `provenance(in:)` does.
    private func provenance(
        of name: VersionName, on shelf: Shelf, _ asset: AssetPath
    ) throws(Failure) -> Provenance {
        let folder = place(name, on: shelf, of: asset)
        let version = try provenance(in: folder)
        guard version.version == name.description else {
            throw Failure(
                .damagedVersion,
                "the provenance in \(folder) says that it is \(version.version). Restore it from a backup."
            )
        }
        return version
    }
}
