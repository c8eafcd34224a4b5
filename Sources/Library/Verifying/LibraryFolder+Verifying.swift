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

    package init(
        rendering: Content.Rendering, source: StoredFile, recipe: Recipe, image: Content.Image,
        path: String
    ) {
        self.rendering = rendering
        self.source = source
        self.recipe = recipe
        self.image = image
        self.path = path
    }
}

extension LibraryFolder {
    /// Compares the files of an asset with what is recorded of them.
    ///
    /// - Parameters:
    ///   - allVersions: whether all that are kept are read, not only the current one and the draft.
    ///   - editors: decode the adjustment data.
    /// - Throws: `missingAsset` when there is nothing of that name; `ioFailure` when the lock or a folder cannot
    ///   be read.
    public func verify(
        _ asset: AssetPath, allVersions: Bool, editors: EditorRegistry, now: Date
    ) throws(Failure) -> VerifiedFiles {
        var report = Verification(of: asset)
        guard try isEdited(asset) else {
            _ = try original(of: asset)
            return VerifiedFiles(report: report, renders: [])
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
        var files = VersionFiles(library: self, asset: asset, editors: editors, report: report)
        for version in versions { try files.check(version) }
        return VerifiedFiles(report: files.report, renders: files.renders)
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
