public import Editors
public import Edits
import Files
public import FoundationEssentials
import SystemPackage

extension LibraryFolder {
    /// Compares the files of an asset with their records. The files are read without the asset's lock, which a
    /// worker may need in the meantime.
    public func verify(
        _ asset: AssetPath, allVersions: Bool, editors: EditorRegistry, now: Date
    ) async throws(Failure) -> VerifiedFiles {
        let (report, versions) = try await blocking(asset) { folder throws(Failure) in
            var report = Verification(of: asset)
            guard try folder.isEdited() else {
                _ = try original(of: asset)
                return (report, [Provenance]())
            }
            let shelves = try folder.locked { () throws(Failure) in
                try AssetShelves(folder, &report)
            }
            // Of a history with versions that cannot be read, nothing can be said.
            guard report.later.isEmpty else { return (report, [Provenance]()) }
            shelves.checkStrays(now: now, &report)
            let versions = report.check(shelves.history, shelves.draft, allVersions: allVersions) {
                folder.folder(of: $0).appending(Provenance.fileName).string
            }
            return (report, versions)
        }
        var files = versionFiles(of: asset, editors, report)
        for version in versions { try await check(version, of: asset, &files) }
        return files.verified
    }

    /// The check of files. They are named by their paths, and every failure to read one is a finding, because only a
    /// disk can be the cause.
    func versionFiles(
        of asset: AssetPath, _ editors: EditorRegistry, _ report: Verification
    ) -> VersionFiles {
        VersionFiles(
            library: self, asset: asset, editors: editors, report: report,
            location: { file in filePath(of: file).string }, isFinding: { _ in true })
    }

    /// Reads the files of a version, unless the version is removed in the meantime.
    func check(
        _ version: Provenance, of asset: AssetPath, _ files: inout VersionFiles
    ) async throws(Failure) {
        let before = files
        for path in try await blocking(
            asset, { folder throws(Failure) in try folder.strays(in: version) })
        {
            files.report.addStray(file: path)
        }
        try await files.check(version)
        let path = folder(of: asset).folder(of: version)
        guard !files.report.isSound,
            try await offPool({ () throws(Failure) in try !self.files.exists(path) })
        else { return }
        files = before
        files.report.add(
            note: .stray, path.string,
            "it was removed during the check: another process discarded, published or collected it."
        )
    }
}

extension AssetFolder {
    /// Returns the files in a version's folder that are not part of the version.
    fileprivate func strays(in version: Provenance) throws(Failure) -> [String] {
        let folder = folder(of: version)
        let known = Set((version.content?.fileNames ?? []) + [Provenance.fileName])
        let folders = Set(known.compactMap { $0.split(separator: "/").dropLast().first })
        var strays: [String] = []
        for name in try files.list(folder) where !known.contains(name) {
            let path = folder.appending(name)
            if name == SizeList.folder, try files.linkTarget(path) == linkToSizes(of: version) {
                continue
            }
            // A link is not listed, because it may lead anywhere.
            let isKnown =
                folders.contains(Substring(name)) ? try files.isFolder(path) : false
            let inside = isKnown ? try files.list(path).map { name + "/" + $0 } : [name]
            for file in inside.map(FilePath.init(_:)) where !known.contains(file.string) {
                // The NFS client keeps this name for a removed file that is still open, and removes it when the
                // file is closed.
                if FileSystem.isSilly(file.lastComponent?.string ?? "") { continue }
                strays.append(folder.pushing(file).string)
            }
        }
        return strays
    }
}

/// The entries on the shelves of an asset, read under its lock, so that no process changes them in the meantime.
struct AssetShelves {
    private let folder: AssetFolder
    /// The readable versions, by shelf and name.
    private var versions: [Shelf: [String: Provenance]] = [:]
    private var pointed: [Shelf: VersionName] = [:]
    /// All names, including those of unreadable versions.
    private var names: [Shelf: [String]] = [:]

    init(_ folder: AssetFolder, _ report: inout Verification) throws(Failure) {
        self.folder = folder
        let files = folder.files
        for shelf in Shelf.allCases {
            do throws(Failure) {
                pointed[shelf] = try folder.pointed(shelf)
            } catch {
                report.add(problem: .pointer, folder.pointer(shelf).string, error)
            }
            for name in try files.list(folder.shelf(shelf))
            where !AssetFolder.isConfirmation(name, on: shelf) {
                let path = folder.shelf(shelf).appending(name)
                guard let version = VersionName(name), try files.isFolder(path) else {
                    report.add(
                        problem: .stray, path.string,
                        "it is no version; Minilab did not create it. Move it away.")
                    continue
                }
                names[shelf, default: []].append(name)
                versions[shelf, default: [:]][name] = report.read(
                    version, at: path.appending(Provenance.fileName).string
                ) { () throws(Failure) in
                    try files.read(
                        Provenance.fileName, in: path, bytesMax: Provenance.fileBytesMax)
                }
            }
            if let name = pointed[shelf]?.description, names[shelf]?.contains(name) != true {
                report.add(
                    problem: .pointer, folder.pointer(shelf).string,
                    "it names \(name), which does not exist. Restore the folder, or let the link name a "
                        + "version that is there.")
            }
        }
    }

    /// The published versions, from the current one as far back as they can be followed.
    var history: [Provenance] {
        var walk = HistoryWalk(from: pointed[.versions])
        while let name = walk.next { walk.add(versions[.versions]?[name.description]) }
        return walk.versions
    }

    var draft: Provenance? { pointed[.drafts].flatMap { versions[.drafts]?[$0.description] } }

    /// Reports the entries that belong neither to the history nor to the draft.
    func checkStrays(now: Date, _ report: inout Verification) {
        let history = history
        if let tail = history.last, let parent = tail.parent, versions[.versions]?[parent] == nil,
            names[.versions]?.contains(where: { (VersionName($0)?.revision ?? 0) < tail.revision })
                == true
        {
            report.add(
                problem: .timeline, folder.folder(of: tail).string,
                "its parent \(parent) is missing or cannot be read, but older versions are there: the history "
                    + "is cut off. Restore it; undo cannot go behind it.")
        }
        let known = Set(history.map(\.version) + [draft?.version].compactMap(\.self))
        for shelf in Shelf.allCases {
            for (name, version) in (versions[shelf] ?? [:]).sorted(by: { $0.key < $1.key })
            where !known.contains(name) {
                report.addStray(
                    version: folder.shelf(shelf).appending(name).string,
                    made: version.author.date, now: now)
            }
        }
    }
}
