public import Adjustments
public import Editors
import Files
public import FoundationEssentials
import SystemPackage

/// What reading an asset's files found, and which renders can be made again to be compared.
public struct VerifiedFiles: Sendable {
    /// The report so far.
    public let report: Verification
    /// The renders whose input and edit are as recorded.
    public let renders: [RecordedRender]

    package init(report: Verification, renders: [RecordedRender]) {
        self.report = report
        self.renders = renders
    }
}

/// A render and what it was made of.
public struct RecordedRender: Sendable {
    /// How it was made.
    public let rendering: Content.Rendering
    /// The file that it was made from: base or original.
    public let source: StoredFile
    /// The adjustment data decoded, with the output as recorded.
    public let recipe: Recipe
    /// What came out.
    public let image: Content.Image
    /// Where that is.
    public let path: String
    /// Whether it is the still of a Live Photo whose movie was edited with it.
    public let isOfPair: Bool

    package init(
        rendering: Content.Rendering, source: StoredFile, recipe: Recipe, image: Content.Image,
        path: String, isOfPair: Bool
    ) {
        self.rendering = rendering
        self.source = source
        self.recipe = recipe
        self.image = image
        self.path = path
        self.isOfPair = isOfPair
    }
}

extension FolderLibrary {
    /// Compares the files of an asset with what is recorded of them; they are read without its lock, which a worker may
    /// want meanwhile.
    ///
    /// - Throws: `missingAsset` when there is nothing of that name; `ioFailure` when the lock or a folder cannot
    ///   be read.
    public func verify(
        _ asset: AssetPath, allVersions: Bool, editors: EditorRegistry, now: Date
    ) async throws(Failure) -> VerifiedFiles {
        let folder = folder
        let (report, versions) = try await offPool { () throws(Failure) in
            try folder.verifyShelves(of: asset, allVersions: allVersions, now: now)
        }
        var files = VersionFiles(
            library: self, asset: asset, editors: editors, report: report, folder.verifying)
        for version in versions { try await check(version, of: asset, &files) }
        return VerifiedFiles(report: files.report, renders: files.renders)
    }

    /// Reads the files of a version, unless it goes meanwhile.
    func check(
        _ version: Provenance, of asset: AssetPath, _ files: inout VersionFiles
    ) async throws(Failure) {
        let before = files
        let folder = folder
        for path in try await offPool({ () throws(Failure) in
            try folder.strays(in: version, asset)
        }) {
            files.report.add(
                problem: .stray, path, "the version does not have such a file. Move it away.")
        }
        try await files.check(version)
        let place = folder.folder(of: version, asset)
        guard !files.report.isSound,
            try await offPool({ () throws(Failure) in try !folder.files.exists(place) })
        else { return }
        files = before
        files.report.add(
            note: .stray, place.string,
            "it went while it was looked at: discarded, published or collected by somebody else.")
    }
}

extension LibraryFolder {
    /// A folder's files are called by their paths; whatever is the matter with one, a disk is.
    var verifying: VersionFiles.Store {
        VersionFiles.Store(
            place: { file in path(of: file).string }, isFinding: { _ in true })
    }

    /// Compares what lies on an asset's shelves, without reading its files.
    ///
    /// - Returns: the report so far, and the versions whose files are to be read.
    fileprivate func verifyShelves(
        of asset: AssetPath, allVersions: Bool, now: Date
    ) throws(Failure) -> (Verification, [Provenance]) {
        var report = Verification(of: asset)
        guard try isEdited(asset) else {
            _ = try original(of: asset)
            return (report, [])
        }
        let shelves = try locked(asset) { () throws(Failure) in
            try AssetShelves(asset, in: self, &report)
        }
        shelves.checkStrays(asset, in: self, now: now, &report)
        let history = shelves.history
        check(history, draft: shelves.draft, asset, &report)

        let published = allVersions ? history : Array(history.prefix(1))
        let versions = [shelves.draft].compactMap { $0 } + published
        report.versions = versions.map(\.version)
        return (report, versions)
    }

    /// The files in a version's folder that it does not have.
    fileprivate func strays(
        in version: Provenance, _ asset: AssetPath
    ) throws(Failure) -> [String] {
        let folder = folder(of: version, asset)
        let known = Set((version.content?.fileNames ?? []) + [Provenance.fileName])
        let folders = Set(known.compactMap { $0.split(separator: "/").dropLast().first })
        var strays: [String] = []
        for name in try files.list(folder) where !known.contains(name) {
            let path = folder.appending(name)
            // Of a link there is nothing to list: it leads anywhere.
            let isKnown =
                folders.contains(Substring(name)) ? try files.isFolder(path) : false
            let inside = isKnown ? try files.list(path).map { name + "/" + $0 } : [name]
            for file in inside.map(FilePath.init(_:)) where !known.contains(file.string) {
                // Of a file that was removed and is open: it goes by itself.
                if FileSystem.isSilly(file.lastComponent?.string ?? "") { continue }
                strays.append(folder.pushing(file).string)
            }
        }
        return strays
    }

    private func check(
        _ history: [Provenance], draft: Provenance?, _ asset: AssetPath,
        _ report: inout Verification
    ) {
        let byName = Dictionary(uniqueKeysWithValues: history.map { ($0.version, $0) })
        var all = history
        if let draft {
            if draft.parent == history.first?.version {
                all.append(draft)
            } else {
                report.add(
                    note: .draft, folder(of: draft, asset).string,
                    "it was made on \(draft.parent ?? "the original"), which is not current any more: it "
                        + "cannot be published. Discard it.")
            }
        }
        for version in all {
            let path = folder(of: version, asset).appending(Provenance.fileName).string
            if version.isDraft != (version == draft) {
                report.add(
                    problem: .timeline, path,
                    version.isDraft
                        ? "it is published, but says it is a draft." : "it says it is no draft.")
            }
            // What was collected cannot contradict.
            if version.parent == nil || version.parent.map({ byName[$0] != nil }) == true {
                let parent = version.parent.flatMap { byName[$0] }
                for sentence in version.contradictions(to: parent, version: { byName[$0] }) {
                    report.add(problem: .timeline, path, sentence + ".")
                }
            }
        }
    }
}
