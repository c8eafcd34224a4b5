/// A version's place in the history of its asset: what undo and redo go by.
///
/// History only grows: undo and redo make new versions that show what an older one showed. A *state* is what
/// an edit or a revert made, named by that version; nil is the original as it came in.
public struct Timeline: Sendable, Codable, Equatable {
    /// The state that the version shows.
    public let state: String?
    /// The state ahead of that one: where undo goes.
    public let before: String?
    /// The states that undo took back, the next to redo first.
    public let redo: [String]

    /// Most states that can be redone; the farthest are forgotten.
    public static let redoMax = 100

    /// Of an asset that nobody edited.
    public static let start = Timeline(state: nil, before: nil, redo: [])

    init(state: String?, before: String?, redo: [String]) {
        self.state = state
        self.before = before
        self.redo = redo
    }

    /// After an edit or a revert that made `version`: nothing is left to redo.
    public func edited(by version: VersionName) -> Timeline {
        Timeline(state: version.description, before: state, redo: [])
    }

    /// After undo.
    ///
    /// - Parameter target: the timeline of the version that is named by `before`; nil for the original.
    public func undone(to target: Timeline?) -> Timeline {
        Timeline(
            state: before, before: target?.before,
            redo: Array(([state].compactMap { $0 } + redo).prefix(Self.redoMax)))
    }

    /// After redo.
    ///
    /// - Parameter target: the timeline of the version that is named first in `redo`.
    public func redone(to target: Timeline) -> Timeline {
        Timeline(state: target.state, before: target.before, redo: Array(redo.dropFirst()))
    }
}
