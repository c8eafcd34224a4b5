import Adjustments
import Editors
import Library

/// What has to be done to carry an edit out: decided from the edit and what the asset is now, without I/O.
enum EditPlan: Sendable, Equatable {
    /// A recipe is rendered.
    case render(RenderTask)
    /// A render that came with an import becomes current as it is.
    case adopt(Adoption)
    /// What an older version or the draft shows, or the original, becomes current.
    case restore(Restoration)
    /// The draft is removed: this one, or whichever it is.
    case discard(VersionName?)
    /// There is nothing to do, for this reason.
    case unchanged(String)

    /// A recipe to render.
    struct RenderTask: Sendable, Equatable {
        /// The layer that it is rendered from.
        let input: EditingInput
        /// What is rendered.
        let recipe: Recipe
        /// The adjustment data to record as they are; nil for those that Minilab writes.
        var adjustment: AdjustmentData?
        /// Whether the adjustment data that are there are recorded again, as they are.
        var keepsAdjustment = false
        /// The answer to `canHandle`, when there was an edit before.
        var opened: Content.Opened?
        /// `asset@version` that the recipe was copied from.
        var copiedFrom: String?
    }

    /// A render that came with an import.
    struct Adoption: Sendable, Equatable {
        /// The adjustment data that belong to it.
        let adjustment: AdjustmentData
        /// Whether the edit was made on a base that did not come along.
        let hasBase: Bool
        /// The edit, when an editor here can read it.
        let recipe: Recipe?
        /// The render, below the originals.
        let render: AssetPath
    }

    /// An older content to show again.
    struct Restoration: Sendable, Equatable {
        /// The version or draft that has the content; nil for the original.
        let from: Provenance?
        /// The history after it; nil when it counts as an edit.
        let timeline: Timeline?
    }
}

/// An asset, opened for an edit.
struct OpenAsset: Sendable, Equatable {
    /// Its name.
    let asset: AssetPath
    /// What it is now.
    var state = AssetState()
    /// The answer to `canHandle` for the edit that is there; nil when there is none.
    var answer: EditorAnswer?

    /// What readers see; nil when the original is current.
    var content: Content? { state.current?.content }

    /// The layer that the next edit starts from.
    func input() -> EditingInput {
        let state: EditingInput.State =
            switch (content, answer) {
            case (let content?, .canHandle?):
                .edited(hasBase: content.base != nil, canHandle: true)
            case (_?, _): .edited(hasBase: content?.base != nil, canHandle: false)
            case (nil, _): .unedited
            }
        return EditingInput.choose(state)
    }

    /// The edit that is there, to be changed.
    ///
    /// - Throws: `missingVersion` when there is none; `cannotHandleAdjustmentData` or `adjustmentDataUndecodable`
    ///   when no editor here can read it.
    func recipe(for mode: Edit.Name) throws(Failure) -> Recipe {
        guard let content, let answer else {
            throw Failure(
                .missingVersion,
                "the asset \(asset.string.debugDescription) has no edit to \(mode.rawValue); its original is "
                    + "current. Send an edit that replaces.")
        }
        return try answer.recipe(of: asset, content.adjustment)
    }
}

extension EditorAnswer {
    /// The edit, as far as it can be read.
    func recipe(
        of asset: AssetPath, _ adjustment: Content.Adjustment
    ) throws(Failure) -> Recipe {
        switch self {
        case .canHandle(let recipe): return recipe
        case .cannotHandle(let reason):
            throw Failure(
                .cannotHandleAdjustmentData,
                "the edit of \(asset.string.debugDescription) cannot be read: \(reason) An edit that "
                    + "replaces is made on top of it.")
        case .undecodable(let failure): throw failure
        }
    }
}
