/// Which layer of an asset an edit starts from: the heart of PhotoKit's contract.
public enum EditingInput: String, Sendable, Codable {
    /// The photo as it came in.
    case original
    /// The input of the most recent edit, when that was not made on the original.
    case base
    /// The newest render, with all edits baked in: for who cannot read the past edit.
    case current

    /// What an asset has when it is opened.
    public enum State: Sendable, Equatable {
        /// The original is current.
        case unedited
        /// It was edited; the edit was made on the original, or on a base.
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
    /// Source: PhotoKit's `PHContentEditingInput` and its resource types. The base is what the guides leave
    /// implicit: without it an editor that stacked its edit on somebody else's would lose that at its next.
    public static func choose(_ state: State) -> EditingInput {
        switch state {
        case .unedited: return .original
        case .edited(hasBase: true, canHandle: true): return .base
        case .edited(hasBase: false, canHandle: true): return .original
        case .edited(_, canHandle: false): return .current
        }
    }
}
