import BlobStore
public import Editors
public import Edits
public import FoundationEssentials
public import Library

/// One check of all the versions that a head names.
struct BucketVerification {
    let library: BucketLibrary
    let asset: AssetPath
    var files: VersionFiles

    /// Objects are named by their URLs. A store that does not answer is not a finding about a file, so it ends the
    /// check.
    init(library: BucketLibrary, asset: AssetPath, editors: EditorRegistry) {
        (self.library, self.asset) = (library, asset)
        files = VersionFiles(
            library: library, asset: asset, editors: editors, report: Verification(of: asset),
            location: { file throws(Failure) in try await library.location(of: file) },
            isFinding: { $0.code == .damagedVersion })
    }

    mutating func verify(
        _ head: AssetHead, allVersions: Bool, now: Date
    ) async throws(Failure) -> VerifiedFiles {
        let stored = try await library.stored(of: asset)
        var history: [Provenance] = []
        for entry in head.history {
            guard let version = try await read(entry, head) else { break }
            history.append(version)
        }
        if history.count == head.history.count {
            history += try await library.older(head, asset)
        }
        var draft: Provenance?
        if let entry = head.draft { draft = try await read(entry, head) }
        // Of a history with versions that cannot be read, nothing can be said.
        guard files.report.later.isEmpty else { return files.verified }
        checkStrays(head, history, stored, now)
        let folder = folder
        let versions = files.report.check(history, draft, allVersions: allVersions) {
            folder + $0.version
        }
        for version in versions {
            let known = Set(
                (version.content?.fileNames ?? []) + [Provenance.fileName, LibraryKeys.linksFile])
            for key in stored[version.version]?.keys ?? [] {
                guard let file = library.keys.version(of: key, asset)?.file, !known.contains(file)
                else { continue }
                files.report.addStray(file: library.location(key))
            }
            try await files.check(version)
        }
        return files.verified
    }

    /// Reads the provenance of a version from the store; returns nil after adding the reason to the report.
    private mutating func read(
        _ entry: AssetHead.Entry, _ head: AssetHead
    ) async throws(Failure) -> Provenance? {
        guard let name = VersionName(entry.version) else { return nil }
        let key = try library.keys.file(Provenance.fileName, of: name, asset)
        let location = library.location(key)
        guard let bytes = try await library.text(name, asset) else {
            files.report.add(
                problem: .provenance, location,
                "the head of the asset names it, but it does not exist. Restore it from a backup.")
            return nil
        }
        let copy =
            entry == head.draft
            ? head.draftProvenance : entry == head.history.first ? head.provenance : nil
        if let copy, !copy.utf8.elementsEqual(bytes) {
            files.report.add(
                problem: .pointer, location,
                "it is not what the head of the asset has of it. Restore one of them.")
        }
        let version = files.report.read(name, at: location) { bytes }
        guard let version, version.parent != entry.parent else { return version }
        files.report.add(
            problem: .provenance, location,
            "it names the parent \(version.parent ?? "none"), and the head of the asset \(entry.parent ?? "none"). "
                + "Restore it.")
        return nil
    }

    /// Reports versions that no head names.
    private mutating func checkStrays(
        _ head: AssetHead, _ history: [Provenance], _ stored: [String: StoredVersion], _ now: Date
    ) {
        let known = head.linked.union(head.trash.map(\.version)).union(history.map(\.version))
            .union([head.draft?.version].compactMap(\.self)).union(head.history.map(\.version))
        for (name, version) in stored.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
            files.report.addStray(
                version: folder + name,
                made: version.newest.map { Date(timeIntervalSince1970: Double($0)) }, now: now)
        }
    }

    /// The beginning of the name of a version in the report.
    private var folder: String {
        "\(library.settings.name)/\(library.keys.versionsPrefix(of: asset))"
    }
}

extension BucketLibrary {
    /// The most times that an asset is checked. Each repetition means that it was changed in the meantime.
    private static let roundsMax = 3

    /// Compares the sizes and digests that the store reports. A file without a reported digest is downloaded.
    public func verify(
        _ asset: AssetPath, allVersions: Bool, editors: EditorRegistry, now: Date
    ) async throws(Failure) -> VerifiedFiles {
        var found = VerifiedFiles(report: Verification(of: asset))
        for _ in 0..<Self.roundsMax {
            let tagged = try await head(of: asset)
            guard tagged.tag != nil else {
                _ = try await originals.find(keys.original(of: asset), missing: .missingAsset)
                return found
            }
            var check = BucketVerification(library: self, asset: asset, editors: editors)
            found = try await check.verify(tagged.head, allVersions: allVersions, now: now)
            // A problem with an asset that was changed during the check may not be real.
            guard !found.report.isSound, try await head(of: asset).tag != tagged.tag else { break }
        }
        return found
    }
}
