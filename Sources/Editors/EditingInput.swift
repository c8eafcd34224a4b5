/// The layer of an asset from which an edit starts: the core of PhotoKit's contract.
public enum EditingInput: String, Sendable, Codable {
    /// The original photo.
    case original
    /// The input of the most recent edit, if that was not the original.
    case base
    /// The newest render, with all edits baked in: for editors that cannot read the past edit.
    case current

    /// The state of an asset when it is opened.
    public enum State: Sendable, Equatable {
        /// The original is current.
        case unedited
        /// The asset has an edit, which was made on the original or on a base.
        case edited(hasBase: Bool, canHandle: Bool)
    }

    /// The decision table.
    ///
    /// | asset | can handle | input |
    /// |---|---|---|
    /// | never edited, or reverted | not asked | original |
    /// | edited on the original | yes | original, with the past edit |
    /// | edited on a base | yes | base, with the past edit |
    /// | edited | no | current, with all past edits baked in |
    ///
    /// Source: PhotoKit's `PHContentEditingInput` and its resource types. The guides leave the base implicit: without it, an editor
    /// that stacked its edit on another editor's would lose that edit when its own is changed.
    public static func choose(_ state: State) -> EditingInput {
        switch state {
        case .unedited: return .original
        case .edited(hasBase: true, canHandle: true): return .base
        case .edited(hasBase: false, canHandle: true): return .original
        case .edited(_, canHandle: false): return .current
        }
    }
}
