import Adjustments
import Editors
import Library

/// An edit that was made elsewhere, read.
struct ImportedEdit: Sendable, Equatable {
    /// The adjustment data.
    let adjustment: AdjustmentData
    /// Whether the edit was made on a base that did not come along.
    let hasBase: Bool
    /// The answer to `canHandle`.
    let answer: EditorAnswer
    /// The render that came along.
    let render: Render?

    /// A photo that the edit's own editor rendered.
    struct Render: Sendable, Equatable {
        /// Where it is, below the originals.
        let path: AssetPath
        /// SHA-256 of its bytes, in hex.
        let sha256: String
    }
}

extension EditPlan {
    /// What `import` asks for: the render that came along as it is, else a render of our own from the original.
    ///
    /// - Throws: `cannotHandleAdjustmentData` or `adjustmentDataUndecodable` when it has to be rendered and no editor here can read it.
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
    /// The edit, when it can be read and was made on the original.
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
