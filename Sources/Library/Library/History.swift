import Edits

/// The versions of an asset in order, and the targets of undo and redo.
public struct History: Sendable, Equatable {
    /// The draft, if there is one, followed by the published versions, newest first.
    public let entries: [Entry]
    /// The target of undo.
    public let undo: Move
    /// The target of redo.
    public let redo: Move

    /// A version and its present roles.
    public struct Entry: Sendable, Equatable {
        public let version: Provenance
        /// Its present roles, the most important first.
        public let marks: [Mark]
    }

    /// A present role of a version.
    public enum Mark: String, Sendable, Encodable {
        /// Readers see this version.
        case current
        case draft
        /// Undo restores the content of this version.
        case undo
        /// Redo restores the content of this version.
        case redo
    }

    /// The target of undo or redo.
    public enum Move: Sendable, Equatable {
        /// There is nothing to undo or redo.
        case nothing
        case original
        case version(String)
        /// To a version that is no longer kept: the operation would fail with `missingVersion`.
        case collected(String)
    }

    /// Creates a history.
    ///
    /// - Parameter versions: the published versions, the current one first.
    public init(_ versions: [Provenance], draft: Provenance?) {
        let timeline = versions.first?.timeline ?? .start
        func move(to state: String?) -> Move {
            guard let state else { return .original }
            return versions.contains { $0.version == state } ? .version(state) : .collected(state)
        }
        let undo = timeline.state == nil ? .nothing : move(to: timeline.before)
        let redo = timeline.redo.first.map { move(to: $0) } ?? .nothing
        self.undo = undo
        self.redo = redo
        let drafts = [draft].compactMap { $0 }.map { Entry(version: $0, marks: [.draft]) }
        entries =
            drafts
            + versions.enumerated().map { index, version in
                var marks: [Mark] = index == 0 ? [.current] : []
                if undo == .version(version.version) { marks.append(.undo) }
                if redo == .version(version.version) { marks.append(.redo) }
                return Entry(version: version, marks: marks)
            }
    }
}

extension History.Entry: Encodable {
    private enum Key: CodingKey {
        case version, revision, marks, mode, author, engine, render, adjustment
    }

    /// Encodes the JSON that `minilab history` prints.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(version.version, forKey: .version)
        try fields.encode(version.revision, forKey: .revision)
        try fields.encode(marks, forKey: .marks)
        try fields.encode(version.mode, forKey: .mode)
        try fields.encode(version.author, forKey: .author)
        try fields.encodeIfPresent(version.content?.rendering?.engine, forKey: .engine)
        try fields.encodeIfPresent(version.content?.render, forKey: .render)
        try fields.encodeIfPresent(version.content?.adjustment, forKey: .adjustment)
    }
}

extension History.Move: Encodable {
    private enum Key: CodingKey { case to, version, isKept }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        switch self {
        case .nothing: try fields.encode("nothing", forKey: .to)
        case .original: try fields.encode("original", forKey: .to)
        case .version(let name), .collected(let name):
            try fields.encode("version", forKey: .to)
            try fields.encode(name, forKey: .version)
            try fields.encode(self == .version(name), forKey: .isKept)
        }
    }
}

extension History: Encodable {}

/// The position of a version in the history of its asset, used by undo and redo.
///
/// History only grows: undo and redo make new versions with the content of an older one. A *state* is the result of
/// an edit or a revert, named by that version; nil is the original.
public struct Timeline: Sendable, Codable, Equatable {
    /// The state that the version shows.
    public let state: String?
    /// The previous state: the target of undo.
    public let before: String?
    /// The states that undo left, the next one to redo first.
    public let redo: [String]

    /// The most states that can be redone. The farthest ones are removed.
    public static let redoMax = 100

    /// The timeline of an asset that was never edited.
    public static let start = Timeline(state: nil, before: nil, redo: [])

    /// Returns the timeline after an edit or a revert that made `version`. There is nothing to redo.
    public func edited(by version: VersionName) -> Timeline {
        Timeline(state: version.description, before: state, redo: [])
    }

    /// Returns the timeline after undo.
    ///
    /// - Parameter target: the timeline of the version named by `before`; nil for the original.
    public func undone(to target: Timeline?) -> Timeline {
        Timeline(
            state: before, before: target?.before,
            redo: Array(([state].compactMap { $0 } + redo).prefix(Self.redoMax)))
    }

    /// Returns the timeline after redo.
    ///
    /// - Parameter target: the timeline of the version named first in `redo`.
    public func redone(to target: Timeline) -> Timeline {
        Timeline(state: target.state, before: target.before, redo: Array(redo.dropFirst()))
    }
}

/// The name of a version: its revision and the fence of the hold that made it, `3-1763700000000000`.
///
/// The fence makes it unique, so that two workers that render the same job never write to one folder.
public struct VersionName: Sendable, Hashable, CustomStringConvertible {
    /// Its number: one more than that of the version it was made from. The original is 0. After a restored library has lost versions, one
    /// more than the highest that was told.
    public let revision: Int
    /// The fence of the hold that made it.
    public let fence: String

    public init(revision: Int, fence: String) {
        (self.revision, self.fence) = (revision, fence)
    }

    /// Parses a name; nil if it is invalid.
    public init?(_ string: String) {
        let parts = string.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1)
        guard string.utf8.count <= Self.bytesMax, parts.count == 2,
            parts.allSatisfy({ $0.allSatisfy(Self.digits.contains) }),
            let revision = Int(String(decoding: parts[0], as: UTF8.self)),
            (1...Self.revisionMax).contains(revision)
        else { return nil }
        self.init(revision: revision, fence: String(decoding: parts[1], as: UTF8.self))
        // Leading zeros would be a second name of the same version.
        guard description == string else { return nil }
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    /// The largest revision that is accepted: every JSON parser preserves it, and adding 1 to it cannot overflow.
    package static let revisionMax = 1 << 53
    /// The length of the longest name: the largest revision and the largest fence.
    package static let bytesMax = 40

    public var description: String { "\(revision)-\(fence)" }
}
