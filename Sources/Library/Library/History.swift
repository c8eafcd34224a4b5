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
        /// The version.
        public let version: Provenance
        /// Its present roles, the most important first.
        public let marks: [Mark]
    }

    /// A present role of a version.
    public enum Mark: String, Sendable, Encodable {
        /// Readers see this version.
        case current
        /// The version is a draft.
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
        /// To the original.
        case original
        /// To the content of this version.
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
