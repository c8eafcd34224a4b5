import Edits
import Editors
import Library

/// An edit that was made in another editor, decoded.
struct ImportedEdit: Sendable, Equatable {
    /// The adjustment data.
    let adjustment: AdjustmentData
    /// Whether the edit was made on a base that the import does not include.
    let hasBase: Bool
    /// The answer to `canHandle`.
    let answer: EditorAnswer
    /// The imported render.
    let render: Render?

    /// A photo that the edit's own editor rendered.
    struct Render: Sendable, Equatable {
        /// Its path below the originals.
        let path: AssetPath
        /// The SHA-256 of its bytes, in hex.
        let sha256: String
    }
}

extension EditPlan {
    /// Plans `import`: the imported render as it is, or otherwise a new render from the original.
    ///
    /// - Throws: `cannotHandleAdjustmentData` or `adjustmentDataUndecodable` if a render is needed and no editor of
    ///   this worker can read the data.
    static func adopt(
        _ imported: ImportedEdit, _ edit: Edit, _ open: OpenAsset
    ) throws(Failure) -> EditPlan {
        let recipe = imported.readableRecipe
        if let content = open.content, content.editDigest == edit.json.digest,
            content.adjustment.sha256 == imported.adjustment.digest,
            imported.render.map({ $0.sha256 == content.render.sha256 }) ?? true
        {
            return .unchanged(alreadyThere)
        }
        if let render = imported.render {
            return .adopt(
                Adoption(
                    adjustment: imported.adjustment, hasBase: imported.hasBase, recipe: recipe,
                    render: render.path))
        }
        guard let recipe else { throw imported.refusal(of: open.asset) }
        return .render(
            RenderTask(
                input: .original,
                recipe: try Recipe(
                    filters: recipe.filters, referenceSize: recipe.referenceSize,
                    output: edit.output ?? recipe.output),
                adjustment: imported.adjustment))
    }
}

extension ImportedEdit {
    /// The recipe of the edit; nil if it cannot be read or was not made on the original.
    var readableRecipe: Recipe? {
        if case .canHandle(let recipe) = answer, !hasBase { recipe } else { nil }
    }

    fileprivate func refusal(of asset: AssetPath) -> Failure {
        let help = "Send the photo that its editor rendered along, as render."
        switch answer {
        case .canHandle:
            return Failure(
                .cannotHandleAdjustmentData,
                "the edit for \(asset.string.debugDescription) was made on an adjusted base, which is not in "
                    + "an .AAE. \(help)")
        case .cannotHandle(let reason):
            return Failure(
                .cannotHandleAdjustmentData,
                "the edit for \(asset.string.debugDescription) cannot be rendered: \(reason) \(help)"
            )
        case .undecodable(let failure): return failure
        }
    }
}
