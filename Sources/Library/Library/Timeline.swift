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

    init(state: String?, before: String?, redo: [String]) {
        self.state = state
        self.before = before
        self.redo = redo
    }

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
