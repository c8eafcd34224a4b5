import Edits
import Editors
import Library

/// The work that carries out an edit. It is decided from the edit and the asset's present state, without I/O.
enum EditPlan: Sendable, Equatable {
    /// A recipe is rendered.
    case render(RenderTask)
    /// An imported render becomes current as it is.
    case adopt(Adoption)
    /// The content of an older version or of the draft, or the original, becomes current.
    case restore(Restoration)
    /// The draft is removed; nil: whichever it is.
    case discard(VersionName?)
    /// There is nothing to do, for this reason.
    case unchanged(String)

    /// A recipe to render.
    struct RenderTask: Sendable, Equatable {
        /// The layer that it is rendered from.
        let input: EditingInput
        /// The recipe to render.
        let recipe: Recipe
        /// The adjustment data to record unchanged; nil: Minilab writes its own.
        var adjustment: AdjustmentData?
        /// Whether the present adjustment data are recorded again unchanged.
        var keepsAdjustment = false
        /// The answer to `canHandle`, if there was an earlier edit.
        var opened: Content.Opened?
        /// The source of a copied recipe, as `asset@version`.
        var copiedFrom: String?
    }

    /// The adoption of an imported render.
    struct Adoption: Sendable, Equatable {
        /// The adjustment data of the render.
        let adjustment: AdjustmentData
        /// Whether the edit was made on a base that the import does not include.
        let hasBase: Bool
        /// The edit, if an editor of this worker can read it.
        let recipe: Recipe?
        /// The path of the render below the originals.
        let render: AssetPath
    }

    /// An older content to show again.
    struct Restoration: Sendable, Equatable {
        /// The version or draft with the content; nil: the original.
        let from: Provenance?
        /// The timeline afterwards; nil: the restoration counts as an edit.
        let timeline: Timeline?
    }
}

/// An asset whose state was read for an edit.
struct OpenAsset: Sendable, Equatable {
    /// Its name.
    let asset: AssetPath
    /// Its present state.
    var state = AssetState()
    /// The answer to `canHandle` for the present edit; nil if there is none.
    var answer: EditorAnswer?

    /// The content that readers see; nil if the original is current.
    var content: Content? { state.current?.content }

    /// Returns the layer from which the next edit starts.
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

    /// Returns the present edit, to be changed.
    ///
    /// - Throws: `missingVersion` if there is none; `cannotHandleAdjustmentData` or `adjustmentDataUndecodable` if
    ///   no editor of this worker can read it.
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
    /// Returns the recipe of the edit.
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
