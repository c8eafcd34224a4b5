import BlobStore
public import Editors
public import Edits
public import FoundationEssentials
public import Library
import SystemPackage

/// One check of all the versions that a head names.
struct BucketVerification {
    let library: BucketLibrary
    let asset: AssetPath
    var files: VersionFiles

    init(library: BucketLibrary, asset: AssetPath, editors: EditorRegistry) {
        (self.library, self.asset) = (library, asset)
        files = VersionFiles(
            library: library, asset: asset, editors: editors, report: Verification(of: asset),
            library.verifying)
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
        checkTimelines(history, draft)
        checkStrays(head, history, stored, now)
        let published = allVersions ? history : Array(history.prefix(1))
        let versions = [draft].compactMap(\.self) + published
        files.report.versions = versions.map(\.version)
        for version in versions { try await checkFiles(of: version, stored[version.version]) }
        return VerifiedFiles(report: files.report, renders: files.renders)
    }

    /// Reads the provenance of a version from the store; returns nil after adding the reason to the report.
    private mutating func read(
        _ entry: AssetHead.Entry, _ head: AssetHead
    ) async throws(Failure) -> Provenance? {
        guard let name = VersionName(entry.version) else { return nil }
        let key = try library.keys.file(Provenance.fileName, of: name, asset)
        let location = library.location(key)
        guard let bytes = try await library.read(key, atMost: Provenance.fileBytesMax) else {
            files.report.add(
                problem: .provenance, location,
                "the head of the asset names it, but it does not exist. Restore it from a backup.")
            return nil
        }
        if !Provenance.isSealed(Data(bytes)) {
            files.report.add(
                problem: .provenance, location,
                "it was changed after it was written: its digest is another one. Restore it.")
        }
        let copy =
            entry == head.draft
            ? head.draftProvenance : entry == head.history.first ? head.provenance : nil
        if let copy, !copy.utf8.elementsEqual(bytes) {
            files.report.add(
                problem: .pointer, location,
                "it is not what the head of the asset has of it. Restore one of them.")
        }
        do throws(Failure) {
            let version = try Provenance(reading: bytes, at: FilePath(location))
            guard version.version == entry.version, version.parent == entry.parent else {
                throw Failure(.damagedVersion, "\(location) names the version \(version.version).")
            }
            return version
        } catch {
            files.report.add(problem: .provenance, location, error.message + " Restore it.")
            return nil
        }
    }

    private mutating func checkTimelines(_ history: [Provenance], _ draft: Provenance?) {
        let byName = Dictionary(history.map { ($0.version, $0) }) { first, _ in first }
        var all = history
        if let draft {
            if draft.parent == history.first?.version {
                all.append(draft)
            } else {
                files.report.add(
                    note: .draft, location(draft),
                    "it was made on \(draft.parent ?? "the original"), which is not current any more: it cannot be "
                        + "published. Discard it.")
            }
        }
        for version in all {
            if version.isDraft != (version == draft) {
                files.report.add(
                    problem: .timeline, location(version),
                    version.isDraft
                        ? "it is published, but marked as a draft." : "it is not marked as a draft."
                )
            }
            let parent = version.parent.flatMap { byName[$0] }
            // A collected version cannot contradict.
            guard version.parent == nil || parent != nil else { continue }
            for sentence in version.contradictions(to: parent, version: { byName[$0] }) {
                files.report.add(problem: .timeline, location(version), sentence + ".")
            }
        }
    }

    /// Reports versions that no head names.
    private mutating func checkStrays(
        _ head: AssetHead, _ history: [Provenance], _ stored: [String: StoredVersion], _ now: Date
    ) {
        let known = head.linked.union(head.trash.map(\.version)).union(history.map(\.version))
            .union([head.draft?.version].compactMap(\.self)).union(head.history.map(\.version))
        for (name, version) in stored.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
            let location =
                "\(library.settings.name)/\(library.keys.versionsPrefix(of: asset))\(name)"
            let age = now.timeIntervalSince1970 - Double(version.newest ?? 0)
            if age > Retention.orphanAge {
                files.report.add(
                    problem: .stray, location, "it is in no history; minilab gc removes it.")
            } else {
                files.report.add(
                    note: .stray, location,
                    "it is in no history yet: a worker publishes it now, or carries it on after a crash."
                )
            }
        }
    }

    /// Returns the name of a version in the report.
    func location(_ version: Provenance) -> String {
        "\(library.settings.name)/\(library.keys.versionsPrefix(of: asset))\(version.version)"
    }
}

/// The checks of a version's files: extra objects, and the files that the provenance records.
extension BucketVerification {
    mutating func checkFiles(
        of version: Provenance, _ stored: StoredVersion?
    ) async throws(Failure) {
        let known = Set(
            (version.content?.fileNames ?? []) + [Provenance.fileName, LibraryKeys.linksFile])
        for key in stored?.keys ?? [] {
            guard let file = library.keys.version(of: key, asset)?.file, !known.contains(file)
            else {
                continue
            }
            files.report.add(
                problem: .stray, library.location(key),
                "the version does not have such a file. Move it away.")
        }
        try await files.check(version)
    }
}

extension BucketLibrary {
    /// The properties of a bucket: objects are named by their URLs. A store that does not answer is not a finding
    /// about a file, so it ends the check.
    var verifying: VersionFiles.Store {
        VersionFiles.Store(
            location: { file throws(Failure) in try await self.location(of: file) },
            isFinding: { $0.code == .damagedVersion })
    }

    /// The most times that an asset is checked. Each repetition means that it was changed in the meantime.
    private static let roundsMax = 3

    /// Compares the sizes and digests that the store reports. A file without a reported digest is downloaded.
    public func verify(
        _ asset: AssetPath, allVersions: Bool, editors: EditorRegistry, now: Date
    ) async throws(Failure) -> VerifiedFiles {
        var found = VerifiedFiles(report: Verification(of: asset), renders: [])
        for _ in 0..<Self.roundsMax {
            let tagged = try await head(of: asset)
            guard tagged.tag != nil else {
                let key = try keys.original(of: asset)
                _ = try await storeCall(missing: .missingAsset) { () throws(BlobError) in
                    try await originals.head(key)
                }
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
