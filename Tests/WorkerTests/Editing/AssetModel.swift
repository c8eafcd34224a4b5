import Edits

/// What an asset must show, kept by a few lines that know neither files nor versions.
struct AssetModel {
    /// What readers see: filters; nil is the original.
    private(set) var shown: [Filter]?
    private(set) var draft: [Filter]?
    private(set) var revision = 0
    private var past: [[Filter]?] = []
    private var future: [[Filter]?] = []
    private var draftBegan = 0

    /// Whether a draft can be published.
    var isDraftFresh: Bool { draft != nil && draftBegan == revision }
    var canUndo: Bool { !past.isEmpty }
    var canRedo: Bool { !future.isEmpty }

    mutating func edit(_ filters: [Filter]?) {
        guard shown != filters else { return }
        past.append(shown)
        future = []
        shown = filters
        revision += 1
    }

    mutating func undo() {
        guard let before = past.popLast() else { return }
        future.append(shown)
        shown = before
        revision += 1
    }

    mutating func redo() {
        guard let after = future.popLast() else { return }
        past.append(shown)
        shown = after
        revision += 1
    }

    mutating func prepare(_ filters: [Filter]) {
        guard shown != filters else { return }
        draft = filters
        draftBegan = revision
    }

    mutating func publish() {
        past.append(shown)
        future = []
        shown = draft
        draft = nil
        revision += 1
    }

    mutating func discard() { draft = nil }
}
