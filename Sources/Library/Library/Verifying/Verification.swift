package import Editors
public import Edits
import Files
import FoundationEssentials
import SystemPackage

/// The result of verifying an asset.
public struct Verification: Sendable, Equatable, Encodable {
    public let asset: AssetPath
    /// The versions whose files were read, the draft first, then newest first.
    public package(set) var versions: [String] = []
    /// The number of renders that were made again and compared.
    public var rendersCompared = 0
    /// The problems found.
    public private(set) var problems: [Finding] = []
    /// The checks that were not possible, with reasons.
    public private(set) var notes: [Finding] = []

    /// A problem, or a check that was not possible.
    public struct Finding: Sendable, Equatable, Encodable {
        public let subject: Subject
        /// The file or folder.
        public let path: String
        /// The problem and its remedy.
        public let sentence: String

        private enum CodingKeys: String, CodingKey {
            case subject = "part"
            case path, sentence
        }

        public init(_ subject: Subject, _ path: String, _ sentence: String) {
            self.subject = subject
            self.path = path
            self.sentence = sentence
        }
    }

    /// The subject of a finding.
    public enum Subject: String, Sendable, Encodable {
        /// The original photo.
        case original
        /// The render on which an edit was made.
        case base
        /// The edit.
        case adjustmentData
        /// The file that readers see.
        case render
        /// The movie of a Live Photo beside the render.
        case pairedVideo
        /// The movie of a Live Photo beside the base.
        case basePairedVideo
        /// A small picture of the render.
        case preview
        /// The record of a version's origin.
        case provenance
        /// The relations between versions: parents, undo and redo.
        case timeline
        /// The link to the current version, or to the draft.
        case pointer
        case draft
        /// A file that belongs to no version.
        case stray
        /// `render(base or original, adjustment data) == render`.
        case invariant
    }

    /// Whether no problem was found.
    public var isSound: Bool { problems.isEmpty }

    /// Starts a report.
    public init(of asset: AssetPath) { self.asset = asset }

    public mutating func add(problem subject: Subject, _ path: String, _ sentence: String) {
        problems.append(Finding(subject, path, sentence))
    }

    /// Adds a check that was not possible.
    public mutating func add(note subject: Subject, _ path: String, _ sentence: String) {
        notes.append(Finding(subject, path, sentence))
    }
}

/// The entries on the shelves of an asset, read under its lock, so that no process changes them in the meantime.
struct AssetShelves {
    /// The readable versions, by shelf and name.
    private(set) var versions: [Shelf: [String: Provenance]] = [:]
    /// The targets of the pointers.
    private(set) var pointed: [Shelf: VersionName] = [:]
    /// All names, including those of unreadable versions.
    private var names: [Shelf: [String]] = [:]

    init(_ asset: AssetPath, in library: LibraryFolder, _ report: inout Verification)
        throws(Failure)
    {
        for shelf in Shelf.allCases {
            do throws(Failure) {
                pointed[shelf] = try library.pointed(shelf, of: asset)
            } catch {
                report.add(
                    problem: .pointer, library.pointer(shelf, of: asset).string, error.message)
            }
            let folder = library.shelf(shelf, of: asset)
            for name in try library.files.list(folder)
            where !LibraryFolder.isConfirmation(name, on: shelf) {
                let path = folder.appending(name)
                guard VersionName(name) != nil, try library.files.isFolder(path) else {
                    report.add(
                        problem: .stray, path.string,
                        "it is no version; Minilab did not create it. Move it away.")
                    continue
                }
                names[shelf, default: []].append(name)
                versions[shelf, default: [:]][name] = library.read(path, &report)
            }
            if let name = pointed[shelf]?.description, names[shelf]?.contains(name) != true {
                report.add(
                    problem: .pointer, library.pointer(shelf, of: asset).string,
                    "it names \(name), which does not exist. Restore the folder, or let the link name a "
                        + "version that is there.")
            }
        }
    }

    /// The published versions, from the current one as far back as they can be followed.
    var history: [Provenance] {
        var history: [Provenance] = []
        var next = pointed[.versions]?.description
        while let name = next, let version = versions[.versions]?[name],
            version.revision < history.last?.revision ?? .max
        {
            history.append(version)
            next = version.parent
        }
        return history
    }

    var draft: Provenance? { pointed[.drafts].flatMap { versions[.drafts]?[$0.description] } }

    /// Reports the entries that belong neither to the history nor to the draft.
    func checkStrays(
        _ asset: AssetPath, in library: LibraryFolder, now: Date, _ report: inout Verification
    ) {
        let history = history
        let tail = history.last
        if let tail, let parent = tail.parent, versions[.versions]?[parent] == nil,
            names[.versions]?.contains(where: { (VersionName($0)?.revision ?? 0) < tail.revision })
                == true
        {
            report.add(
                problem: .timeline, library.folder(tail, of: asset).string,
                "its parent \(parent) is missing or cannot be read, but older versions are there: the history "
                    + "is cut off. Restore it; undo cannot go behind it.")
        }
        let known = Set(history.map(\.version) + [draft?.version].compactMap { $0 })
        for shelf in Shelf.allCases {
            for (name, version) in (versions[shelf] ?? [:]).sorted(by: { $0.key < $1.key })
            where !known.contains(name) {
                let path = library.shelf(shelf, of: asset).appending(name).string
                let made = version.author.date ?? .distantPast
                if now.timeIntervalSince(made) > Retention.orphanAge {
                    report.add(
                        problem: .stray, path,
                        "it is in no history; minilab gc removes it when it is old enough.")
                } else {
                    report.add(
                        note: .stray, path,
                        "it is in no history yet: a worker publishes it now, or carries it on after a crash."
                    )
                }
            }
        }
    }
}

extension LibraryFolder {
    fileprivate func folder(_ version: Provenance, of asset: AssetPath) -> FilePath {
        folder(of: version, asset)
    }

    /// Returns the provenance in a folder, or nil after adding the reason to the report.
    fileprivate func read(_ folder: FilePath, _ report: inout Verification) -> Provenance? {
        let path = folder.appending(Provenance.fileName)
        do throws(Failure) {
            let bytes = try files.read(
                Provenance.fileName, in: folder, bytesMax: Provenance.fileBytesMax)
            if !Provenance.isSealed(Data(bytes)) {
                report.add(
                    problem: .provenance, path.string,
                    "it was changed after it was written: its digest is another one. Restore it.")
            }
            let provenance = try Provenance(reading: bytes, at: path)
            if provenance.version != folder.lastComponent?.string {
                report.add(
                    problem: .provenance, path.string,
                    "its provenance names the version \(provenance.version). Restore the folder.")
                return nil
            }
            return provenance
        } catch {
            report.add(problem: .provenance, path.string, error.message + " Restore it.")
            return nil
        }
    }
}

extension Content {
    /// Returns the recipe for a second render: the decoded adjustment data, with the recorded output.
    ///
    /// - Parameters:
    ///   - sidecar: the sidecar, whose bytes match the record.
    ///   - path: the path of the sidecar, for the report.
    /// - Returns: nil if the data cannot be decoded or differ from the record.
    package func recipe(
        checking sidecar: AAESidecar, at path: String, _ editors: EditorRegistry,
        _ report: inout Verification
    ) -> Recipe? {
        guard
            adjustment
                == Content.Adjustment(
                    sidecar: adjustment.sidecar, sidecarSHA256: adjustment.sidecarSHA256,
                    sidecar.adjustment)
        else {
            report.add(
                problem: .adjustmentData, path,
                "it is \(sidecar.adjustment.format), or other data, than the provenance says.")
            return nil
        }
        let hasBase = base != nil
        if (sidecar.base == .adjusted) != hasBase, rendering != nil {
            report.add(
                problem: .adjustmentData, path,
                hasBase
                    ? "it says that the edit was made on the original, but the version has a base."
                    : "it says that the edit was made on a base, but the version has none.")
            return nil
        }
        return decode(sidecar, path, editors, &report)
    }

    private func decode(
        _ sidecar: AAESidecar, _ path: String, _ editors: EditorRegistry,
        _ report: inout Verification
    ) -> Recipe? {
        switch editors.open(sidecar.adjustment, of: input.photo) {
        case .undecodable(let failure):
            report.add(problem: .adjustmentData, path, failure.message)
            return nil
        case .cannotHandle(let reason):
            if recipe != nil {
                report.add(
                    note: .adjustmentData, path,
                    "it was read when the version was made, and cannot be now: \(reason)")
            }
            return nil
        case .canHandle(let found):
            guard let recorded = recipe else { return nil }
            // Only Minilab's own format includes the output settings.
            let isOurs =
                sidecar.adjustment.formatIdentifier == AdjustmentData.minilabFormatIdentifier
            guard found.filters == recorded.filters, !isOurs || found.output == recorded.output
            else {
                report.add(
                    problem: .adjustmentData, path,
                    "it decodes to another edit than the provenance has.")
                return nil
            }
            return recorded
        }
    }
}

extension Provenance {
    /// Returns the contradictions between a version and its parent, one sentence each.
    ///
    /// - Parameters:
    ///   - parent: the parent; nil for the first version.
    ///   - version: finds a version by name; nil if it is not kept.
    package func contradictions(
        to parent: Provenance?, version: (String) -> Provenance?
    ) -> [String] {
        var sentences: [String] = []
        let revision = (parent?.revision ?? 0) + 1
        if self.revision != revision || VersionName(self.version)?.revision != revision {
            sentences.append(
                "its revision is \(self.revision), its name \(self.version); going by its parent it is "
                    + "revision \(revision)")
        }
        let before = parent?.timeline ?? .start
        guard let name = VersionName(self.version) else { return sentences }
        switch mode {
        case .undo:
            sentences += restored(
                before.before, version
            ) { before.undone(to: $0?.timeline) }
        case .redo:
            guard let next = before.redo.first else {
                return sentences + ["it redoes, but its parent has nothing to redo"]
            }
            sentences += restored(next, version) { before.redone(to: $0?.timeline ?? .start) }
        case .replace, .append, .amend, .revert, .copyEdit, .render, .import, .publish, .discard:
            if timeline != before.edited(by: name) {
                sentences.append(
                    "its position in the history is not the one after \(parent?.version ?? "the original")"
                )
            }
        }
        if (mode == .revert) && content != nil {
            sentences.append("it reverts to the original, but has a render")
        }
        return sentences
    }

    /// - Parameter state: the target of undo or redo; nil for the original.
    private func restored(
        _ state: String?, _ version: (String) -> Provenance?,
        _ expected: (Provenance?) -> Timeline
    ) -> [String] {
        let target = state.flatMap(version)
        // A version that is no longer kept cannot contradict.
        guard state == nil || target != nil else { return [] }
        var sentences: [String] = []
        if timeline != expected(target) {
            sentences.append("its position in the history is not where \(mode.rawValue) goes")
        }
        if content != target?.content {
            sentences.append("it does not show what \(state ?? "the original") shows")
        }
        return sentences
    }
}
