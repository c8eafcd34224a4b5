public import Adjustments

/// What a check of an asset found.
public struct Verification: Sendable, Equatable, Encodable {
    /// The asset.
    public let asset: AssetPath
    /// The versions whose files were read, the draft first, then newest first.
    public package(set) var versions: [String] = []
    /// How many renders were made again and compared.
    public var rendersCompared = 0
    /// What is wrong.
    public private(set) var problems: [Finding] = []
    /// What could not be checked, and why.
    public private(set) var notes: [Finding] = []

    /// One thing that is wrong, or could not be checked.
    public struct Finding: Sendable, Equatable, Encodable {
        /// What it is about.
        public let part: Part
        /// The file or folder.
        public let path: String
        /// What is the matter and what to do.
        public let sentence: String

        /// Makes a finding.
        public init(_ part: Part, _ path: String, _ sentence: String) {
            self.part = part
            self.path = path
            self.sentence = sentence
        }
    }

    /// What a finding is about.
    public enum Part: String, Sendable, Encodable {
        /// The photo as it came in.
        case original
        /// The render that an edit was made on.
        case base
        /// The edit.
        case adjustmentData
        /// What readers see.
        case render
        /// The movie of a Live Photo beside it.
        case pairedVideo
        /// The movie of a Live Photo beside its base.
        case basePairedVideo
        /// A small picture of it.
        case preview
        /// The record of how a version was made.
        case provenance
        /// What versions say of each other: parents, undo and redo.
        case timeline
        /// The link to the current version, or to the draft.
        case pointer
        /// The draft.
        case draft
        /// Something that belongs to nothing.
        case stray
        /// `render(base or original, adjustment data) == render`.
        case invariant
    }

    /// Whether nothing is wrong.
    public var isSound: Bool { problems.isEmpty }

    /// Starts a report.
    public init(of asset: AssetPath) { self.asset = asset }

    /// Adds something that is wrong.
    public mutating func add(problem part: Part, _ path: String, _ sentence: String) {
        problems.append(Finding(part, path, sentence))
    }

    /// Adds something that could not be checked.
    public mutating func add(note part: Part, _ path: String, _ sentence: String) {
        notes.append(Finding(part, path, sentence))
    }
}
