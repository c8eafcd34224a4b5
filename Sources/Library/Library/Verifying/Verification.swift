package import Editors
public import Edits
package import FoundationEssentials

/// The result of verifying an asset.
public struct Verification: Sendable, Equatable, Encodable {
    public let asset: AssetPath
    /// The versions whose files were read, the draft first, then newest first.
    public private(set) var versions: [String] = []
    /// The number of renders that were made again and compared.
    public var rendersCompared = 0
    /// The number of renditions that were made again and compared.
    public var renditionsCompared = 0
    /// The number of renditions that were chosen for that and cannot be made with the same bytes here: another engine made them, or
    /// their input is not what it was.
    public var renditionsSkipped = 0
    /// Renders and renditions that are not made again, by the reason why other bytes would be no fault.
    public var notRenderedAgain = OtherOrigins()
    /// The problems found.
    public private(set) var problems: [Finding] = []
    /// The records that a later release wrote, and this one cannot read: neither sound nor damaged.
    public private(set) var later: [Finding] = []
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
    }

    /// The subject of a finding.
    public enum Subject: String, Sendable, Encodable {
        case original
        /// The render on which an edit was made.
        case base
        case adjustmentData
        /// The file that readers see.
        case render
        /// The movie of a Live Photo beside the render.
        case pairedVideo
        /// The movie of a Live Photo beside the base.
        case basePairedVideo
        /// A small picture of the render.
        case preview
        /// A picture of the version in another size or format, or the list of these.
        case rendition
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
        problems.append(Finding(subject: subject, path: path, sentence: sentence))
    }

    /// Adds a failure as a problem: without the path, which the report has beside it, and with the advice if it has no such one.
    public mutating func add(
        problem subject: Subject, _ path: String, _ failure: Failure, advice: String? = nil
    ) {
        var sentence = failure.message
        if sentence.hasPrefix(path + ": ") {
            sentence = String(sentence.dropFirst(path.count + 2))
        } else if sentence.hasPrefix(path + " ") {
            sentence = "it" + sentence.dropFirst(path.count)
        }
        if let advice, !(sentence.contains("Restore it") && advice.hasPrefix("Restore it")) {
            sentence += " " + advice
        }
        add(problem: subject, path, sentence)
    }

    /// Adds a file or version that a later release wrote.
    mutating func add(later subject: Subject, _ path: String, _ sentence: String) {
        later.append(Finding(subject: subject, path: path, sentence: sentence))
    }

    /// Adds a check that was not possible.
    public mutating func add(note subject: Subject, _ path: String, _ sentence: String) {
        notes.append(Finding(subject: subject, path: path, sentence: sentence))
    }
}

/// Counts of pictures that another engine has made, or the same one with other libraries, by their origin. Their files were compared
/// with their digests.
public struct OtherOrigins: Sendable, Equatable, Encodable {
    public struct Count: Sendable, Equatable, Encodable {
        public fileprivate(set) var renders = 0
        public fileprivate(set) var renditions = 0
    }

    /// By what ``RenderOrigin/difference(fromRender:with:)`` says.
    public private(set) var counts: [String: Count] = [:]

    public init() {}

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.singleValueContainer()
        try values.encode(counts)
    }

    public mutating func add(renders: Int = 0, renditions: Int = 0, of origin: String) {
        counts[origin, default: Count()].renders += renders
        counts[origin, default: Count()].renditions += renditions
    }

    /// Adds the counts of another asset.
    public mutating func add(_ others: OtherOrigins) {
        for (origin, count) in others.counts {
            add(renders: count.renders, renditions: count.renditions, of: origin)
        }
    }
}

/// The rules for the versions of an asset, which every store checks.
extension Verification {
    /// Returns the provenance of a version, or nil after adding the reason to the report.
    ///
    /// - Parameters:
    ///   - location: the name of its file or object.
    ///   - read: reads its bytes.
    package mutating func read(
        _ name: VersionName, at location: String, _ read: () throws(Failure) -> [UInt8]
    ) -> Provenance? {
        do throws(Failure) {
            let bytes = try read()
            do throws(Failure) {
                // First, because a later release may also compute the digest in another way.
                try LibraryDocument.checkFormat(
                    of: bytes, upTo: Provenance.formatVersionKnown, at: location)
            } catch {
                add(later: .provenance, location, error.message)
                return nil
            }
            if !Provenance.isSealed(bytes) {
                add(
                    problem: .provenance, location,
                    "it was changed after it was written: its digest is another one. Restore it.")
            }
            let version = try Provenance(reading: bytes, at: location)
            if version.version == name.description { return version }
            add(
                problem: .provenance, location,
                "it names the version \(version.version). Restore it.")
        } catch {
            add(problem: .provenance, location, error, advice: "Restore it.")
        }
        return nil
    }

    /// Checks the relations of versions: parents, undo and redo.
    ///
    /// - Parameter location: names a version in the report.
    /// - Returns: the versions whose files are to be read.
    package mutating func check(
        _ history: [Provenance], _ draft: Provenance?, allVersions: Bool,
        _ location: (Provenance) -> String
    ) -> [Provenance] {
        let byName = Dictionary(history.map { ($0.version, $0) }) { first, _ in first }
        var all = history
        if let draft {
            if draft.parent == history.first?.version {
                all.append(draft)
            } else {
                add(
                    note: .draft, location(draft),
                    "it was made on \(draft.parent ?? "the original"), which is not current any more: it "
                        + "cannot be published. Discard it.")
            }
        }
        for version in all {
            if version.isDraft != (version == draft) {
                add(
                    problem: .timeline, location(version),
                    version.isDraft
                        ? "it is published, but marked as a draft." : "it is not marked as a draft."
                )
            }
            let parent = version.parent.flatMap { byName[$0] }
            // A collected version cannot contradict.
            guard version.parent == nil || parent != nil else { continue }
            for sentence in version.contradictions(to: parent, version: { byName[$0] }) {
                add(problem: .timeline, location(version), sentence + ".")
            }
        }
        let read = [draft].compactMap(\.self) + (allVersions ? history : Array(history.prefix(1)))
        versions = read.map(\.version)
        return read
    }

    /// Adds a version that is in no history.
    ///
    /// - Parameter made: the time of its creation; nil if it is unknown.
    package mutating func addStray(version location: String, made: Date?, now: Date) {
        if now.timeIntervalSince(made ?? .distantPast) > Retention.orphanAge {
            add(
                problem: .stray, location,
                "it is in no history; minilab gc removes it when it is old enough.")
        } else {
            add(
                note: .stray, location,
                "it is in no history yet: a worker publishes it now, or carries it on after a crash."
            )
        }
    }

    /// Adds a file that is not part of its version.
    package mutating func addStray(file location: String) {
        add(problem: .stray, location, "the version does not have such a file. Move it away.")
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
            report.add(problem: .adjustmentData, path, failure)
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
        let revision = max(parent?.revision ?? 0, told ?? 0) + 1
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
        case .replace, .append, .amend, .revert, .copyEdit, .render, .import, .renditions, .publish,
            .discard:
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
