public import Edits

/// The result of verifying an asset.
public struct Verification: Sendable, Equatable, Encodable {
    /// The asset.
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
        /// The subject of the finding.
        public let subject: Subject
        /// The file or folder.
        public let path: String
        /// The problem and its remedy.
        public let sentence: String

        private enum CodingKeys: String, CodingKey {
            case subject = "part"
            case path, sentence
        }

        /// Creates a finding.
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
        /// The draft.
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

    /// Adds a problem.
    public mutating func add(problem subject: Subject, _ path: String, _ sentence: String) {
        problems.append(Finding(subject, path, sentence))
    }

    /// Adds a check that was not possible.
    public mutating func add(note subject: Subject, _ path: String, _ sentence: String) {
        notes.append(Finding(subject, path, sentence))
    }
}
