public import Editors
public import Edits
import Files
public import FoundationEssentials
import SystemPackage

/// The result of checking an asset's files, and the renders that can be made again for comparison.
public struct VerifiedFiles: Sendable {
    /// The report so far.
    public let report: Verification
    /// The renders whose input and edit match their records.
    public let renders: [RecordedRender]

    package init(report: Verification, renders: [RecordedRender]) {
        self.report = report
        self.renders = renders
    }
}

/// A render and its input.
public struct RecordedRender: Sendable {
    public let rendering: Content.Rendering
    /// The input file: base or original.
    public let source: StoredFile
    /// The decoded adjustment data, with the recorded output.
    public let recipe: Recipe
    /// The recorded result.
    public let image: Content.Image
    /// The path of the result.
    public let path: String
    /// Whether it is the still of a Live Photo whose movie was edited with it.
    public let belongsToPair: Bool

    package init(
        rendering: Content.Rendering, source: StoredFile, recipe: Recipe, image: Content.Image,
        path: String, belongsToPair: Bool
    ) {
        self.rendering = rendering
        self.source = source
        self.recipe = recipe
        self.image = image
        self.path = path
        self.belongsToPair = belongsToPair
    }
}

extension FolderLibrary {
    /// Compares the files of an asset with their records. The files are read without the asset's lock, which a
    /// worker may need in the meantime.
    ///
    /// - Throws: `missingAsset` if neither an edit nor an original of that name exists; `ioFailure` if the lock or
    ///   a folder cannot be read.
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

    /// Reads the files of a version, unless the version is removed in the meantime.
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
        let path = folder.folder(of: version, asset)
        guard !files.report.isSound,
            try await offPool({ () throws(Failure) in try !folder.files.exists(path) })
        else { return }
        files = before
        files.report.add(
            note: .stray, path.string,
            "it was removed during the check: another process discarded, published or collected it."
        )
    }
}

extension LibraryFolder {
    /// The properties of a folder: files are named by their paths, and every failure to read one is a finding,
    /// because only a disk can be the cause.
    var verifying: VersionFiles.Store {
        VersionFiles.Store(
            location: { file in path(of: file).string }, isFinding: { _ in true })
    }

    /// Checks the entries on an asset's shelves, without reading their files.
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

    /// Returns the files in a version's folder that are not part of the version.
    fileprivate func strays(
        in version: Provenance, _ asset: AssetPath
    ) throws(Failure) -> [String] {
        let folder = folder(of: version, asset)
        let known = Set((version.content?.fileNames ?? []) + [Provenance.fileName])
        let folders = Set(known.compactMap { $0.split(separator: "/").dropLast().first })
        var strays: [String] = []
        for name in try files.list(folder) where !known.contains(name) {
            let path = folder.appending(name)
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
                        ? "it is published, but marked as a draft." : "it is not marked as a draft."
                )
            }
            // A collected version cannot contradict.
            if version.parent == nil || version.parent.map({ byName[$0] != nil }) == true {
                let parent = version.parent.flatMap { byName[$0] }
                for sentence in version.contradictions(to: parent, version: { byName[$0] }) {
                    report.add(problem: .timeline, path, sentence + ".")
                }
            }
        }
    }
}

/// Reads the files of versions and compares them with their provenance, in any kind of store.
package struct VersionFiles {
    private let library: any LibraryStore
    private let asset: AssetPath
    private let editors: EditorRegistry
    private let store: Store
    /// The findings so far.
    package var report: Verification
    /// The renders whose input and edit match their records.
    package private(set) var renders: [RecordedRender] = []
    /// The original's digest after it was read; `.some(nil)` if it cannot be read.
    private var originalDigest: String??
    /// The contents that were already checked: undo and redo show a content again.
    private var seen: Set<String> = []

    /// The properties in which stores differ.
    package struct Store: Sendable {
        /// Returns the location of a file, for the report.
        let location: @Sendable (StoredFile) async throws(Failure) -> String
        /// Returns whether a failure to read a file is a finding. Other failures end the check.
        let isFinding: @Sendable (Failure) -> Bool

        package init(
            location: @escaping @Sendable (StoredFile) async throws(Failure) -> String,
            isFinding: @escaping @Sendable (Failure) -> Bool
        ) {
            (self.location, self.isFinding) = (location, isFinding)
        }
    }

    package init(
        library: any LibraryStore, asset: AssetPath, editors: EditorRegistry,
        report: Verification, _ store: Store
    ) {
        (self.library, self.asset, self.editors) = (library, asset, editors)
        (self.report, self.store) = (report, store)
    }

    /// Reads the files of a version.
    package mutating func check(_ version: Provenance) async throws(Failure) {
        guard let content = version.content else { return }
        var isInputSound = try await isOriginalSound(content)
        var input = StoredFile.original(asset)
        var sound: Set<String> = []
        for file in content.recordedFiles {
            if try await isSound(file, StoredFile(file.name, of: version, asset)) {
                sound.insert(file.name)
            }
        }
        if let base = content.base {
            input = try StoredFile(base.name, of: version, asset)
            isInputSound = sound.contains(base.name)
        }
        let recipe =
            sound.contains(content.adjustment.sidecar)
            ? try await recipe(of: content, in: version) : nil
        let render = try await store.location(StoredFile(content.render.name, of: version, asset))
        guard let rendering = content.rendering else {
            report.add(
                note: .invariant, render,
                "it came with an import: it is not rendered again to be compared.")
            return
        }
        guard isInputSound, let recipe,
            seen.insert("\(content.adjustment.sha256) \(content.render.sha256)").inserted
        else { return }
        renders.append(
            RecordedRender(
                rendering: rendering, source: input, recipe: recipe, image: content.render,
                path: render, belongsToPair: content.pairedVideo != nil))
    }

    /// Returns whether a file has the recorded bytes.
    private mutating func isSound(
        _ file: RecordedFile, _ stored: StoredFile
    ) async throws(Failure) -> Bool {
        let location = try await store.location(stored)
        do throws(Failure) {
            // Stores return the digest with which an object was written, and may not have compared it since.
            guard let found = try await library.digest(of: stored, isRead: true) else {
                report.add(
                    problem: file.subject, location, "it does not exist. Restore it from a backup.")
                return false
            }
            if file.isSame(as: found) { return true }
            report.add(
                problem: file.subject, location,
                "its \(found.bytes) bytes are not those that were recorded: SHA-256 \(found.sha256), expected "
                    + "\(file.sha256). Restore it from a backup.")
        } catch {
            guard store.isFinding(error) else { throw error }
            report.add(
                problem: file.subject, location, error.message + " Restore it from a backup.")
        }
        return false
    }

    private mutating func isOriginalSound(_ content: Content) async throws(Failure) -> Bool {
        let location = try await store.location(.original(asset))
        if originalDigest == nil {
            do throws(Failure) {
                let file = try await library.open(.original(asset))
                originalDigest = .some(
                    try await offPool { () throws(Failure) in try FileDigest.sha256(of: file).hex })
            } catch {
                originalDigest = .some(nil)
                report.add(problem: .original, location, error.message)
            }
        }
        guard case .some(.some(let found)) = originalDigest else { return false }
        if found != content.source.sha256 {
            let sentence =
                "it is not the photo that was edited: its SHA-256 is \(found), expected "
                + "\(content.source.sha256). Restore it, or edit it again."
            if !report.problems.contains(.init(.original, location, sentence)) {
                report.add(problem: .original, location, sentence)
            }
        }
        return found == content.source.sha256
    }

    /// Returns the recipe for a second render: the decoded adjustment data, with the recorded output. nil if they
    /// cannot be decoded or differ from the record.
    private mutating func recipe(
        of content: Content, in version: Provenance
    ) async throws(Failure) -> Recipe? {
        let location = try await store.location(
            StoredFile(content.adjustment.sidecar, of: version, asset))
        do throws(Failure) {
            let sidecar = try await library.sidecar(of: content, in: version, asset)
            return content.recipe(checking: sidecar, at: location, editors, &report)
        } catch {
            report.add(problem: .adjustmentData, location, error.message)
            return nil
        }
    }
}
