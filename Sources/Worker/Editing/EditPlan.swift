import Editors
import Edits
import Library
import RenderProtocol

/// The work that carries out an edit. It is decided from the edit and the asset's present state, without I/O.
enum EditPlan: Sendable, Equatable {
    case render(RenderTask)
    /// An imported render becomes current as it is.
    case adopt(Adoption)
    /// The content of an older version or of the draft, or the original, becomes current.
    case restore(Restoration)
    /// The draft is removed; nil: whichever it is.
    case discard(VersionName?)
    /// There is nothing to do, for this reason.
    case unchanged(String)

    struct RenderTask: Sendable, Equatable {
        /// The layer that it is rendered from.
        let input: EditingInput
        let recipe: Recipe
        /// The upright sizes of the pictures on which steps depend, by digest.
        var pictures: [String: PixelSize] = [:]
        /// The recipe to copy to other photos, if `recipe` has pixels of this one in its place.
        var sent: Recipe?
        /// The adjustment data to record unchanged; nil: Minilab writes its own.
        var adjustment: AdjustmentData?
        /// Whether the present adjustment data are recorded again unchanged.
        var keepsAdjustment = false
        /// The answer to `canHandle`, if there was an earlier edit.
        var opened: Content.Opened?
        /// The source of a copied recipe, as `asset@version`.
        var copiedFrom: String?
    }

    struct Adoption: Sendable, Equatable {
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
    var state = AssetState()
    /// The answer to `canHandle` for the present edit; nil if there is none.
    var answer: EditorAnswer?
    /// The upright sizes of the pictures on which steps of the edit, or of the present one as it was sent, depend. Those of missing
    /// files are not there.
    var pictures: [String: PixelSize] = [:]

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

extension EditPlan {
    /// Plans `revert`: the original becomes current, whichever editor made the edits and whether or not they can be
    /// decoded.
    static func revert(_ open: OpenAsset) -> EditPlan {
        open.content == nil
            ? .unchanged("the original is current")
            : .restore(Restoration(from: nil, timeline: nil))
    }

    /// Plans `undo`: the state before the last edit becomes current.
    ///
    /// - Parameter version: finds a version by name; nil if it was collected.
    static func undo(
        _ open: OpenAsset, version: (String) throws(Failure) -> Provenance?
    ) throws(Failure) -> EditPlan {
        let timeline = open.state.current?.timeline ?? .start
        guard timeline.state != nil else {
            return .unchanged("there is nothing to undo: the asset has no earlier edit")
        }
        let target = try timeline.before.map { name throws(Failure) in
            try found(name, version, open.asset)
        }
        return .restore(
            Restoration(from: target, timeline: timeline.undone(to: target?.timeline)))
    }

    /// Plans `redo`: the state before the last undo becomes current.
    static func redo(
        _ open: OpenAsset, version: (String) throws(Failure) -> Provenance?
    ) throws(Failure) -> EditPlan {
        let timeline = open.state.current?.timeline ?? .start
        guard let name = timeline.redo.first else {
            return .unchanged("there is nothing to redo: the last change was not an undo")
        }
        let target = try found(name, version, open.asset)
        return .restore(
            Restoration(from: target, timeline: timeline.redone(to: target.timeline)))
    }

    private static func found(
        _ name: String, _ version: (String) throws(Failure) -> Provenance?, _ asset: AssetPath
    ) throws(Failure) -> Provenance {
        guard let found = try version(name) else {
            throw Failure(
                .missingVersion,
                "the version \(name) of \(asset.string.debugDescription) is not kept any more; retention has "
                    + "collected it.")
        }
        return found
    }

    /// Plans `publish`: the draft becomes the next version.
    static func publish(_ version: String?, _ open: OpenAsset) throws(Failure) -> EditPlan {
        guard let draft = open.state.draft, version == nil || version == draft.version else {
            throw Failure(
                .missingDraft,
                "the asset \(open.asset.string.debugDescription) has "
                    + (open.state.draft.map {
                        "the draft \($0.version), not \(version ?? "another one"). Publish that one, or make another."
                    }
                        ?? "no draft \(version ?? "to publish"). An edit with \"draft\": true makes one.")
            )
        }
        guard draft.parent == open.state.current?.version else {
            throw Failure(
                .staleDraft,
                "the draft \(draft.version) of \(open.asset.string.debugDescription) was made on "
                    + "\(draft.parent ?? "the original"); now "
                    + "\(open.state.current?.version ?? "the original") is current. Discard the draft and edit again."
            )
        }
        return .restore(Restoration(from: draft, timeline: nil))
    }

    /// Plans `discard`: removes the draft, including the remains of an earlier attempt.
    static func removeDraft(_ version: String?) throws(Failure) -> EditPlan {
        guard let version else { return .discard(nil) }
        guard let name = VersionName(version) else {
            throw Failure(
                .invalidValue,
                "edit.version is \(version.debugDescription); expected the id of a version, such as 3-1763701440000000."
            )
        }
        return .discard(name)
    }
}

/// An edit that was made in another editor, decoded.
struct ImportedEdit: Sendable, Equatable {
    let adjustment: AdjustmentData
    /// Whether the edit was made on a base that the import does not include.
    let hasBase: Bool
    /// The answer to `canHandle`.
    let answer: EditorAnswer
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
        if let content = open.content, content.editDigest == edit.changeDigest,
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
                    output: edit.output(after: recipe.output)),
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

extension EditPlan {
    /// Plans `replace`: these filters on the input of the last edit.
    static func replace(
        _ steps: Edit.Steps, _ edit: Edit, _ open: OpenAsset
    ) throws(Failure) -> EditPlan {
        // Without a version, there is none that could have renditions.
        let makesFirst = open.state.current == nil && !edit.renditions.isEmpty
        if steps.filters.isEmpty, edit.output == nil, !makesFirst {
            return .unchanged("no filter was chosen and no output asked for")
        }
        if open.input() != .current, let content = open.content,
            content.editDigest == edit.changeDigest
        {
            return .unchanged(alreadyThere)
        }
        return try render(
            Recipe(
                filters: steps.filters, referenceSize: steps.referenceSize,
                output: edit.output ?? Recipe.Output()), edit, open)
    }

    /// Plans `append`: the last edit, followed by these filters.
    ///
    /// A reference size is that of a preview of the current version, and relative values count parts of its render. If
    /// the last edit cannot be read, the filters are applied to its render.
    static func append(
        _ steps: Edit.Steps, _ edit: Edit, _ open: OpenAsset
    ) throws(Failure) -> EditPlan {
        guard let content = open.content, case .canHandle(let recipe)? = open.answer else {
            return try replace(steps, edit, open)
        }
        if steps.filters.isEmpty, edit.output == nil {
            return .unchanged("no filter was chosen and no output asked for")
        }
        let added = try Recipe(filters: steps.filters, referenceSize: steps.referenceSize)
        let (size, output) = (
            content.render.size, edit.output(after: content.output(recipe))
        )
        let appended = try added.resolved(for: size, pictures: open.pictures)
        let kept = try added.kept(for: size, pictures: open.pictures) ?? appended
        let sent = try Recipe(
            filters: (content.sent ?? recipe).filters + kept.filters, output: output)
        return try render(
            Recipe(filters: recipe.filters + appended.filters, output: output), edit, open,
            sent: sent.dependsOnSize ? sent : nil)
    }

    /// Plans `amend`: the last edit with steps changed or removed.
    static func amend(
        _ amendments: [Amendment], _ edit: Edit, _ open: OpenAsset
    ) throws(Failure) -> EditPlan {
        let recipe = try open.recipe(for: .amend)
        guard let content = open.content else { return .unchanged("the original is current") }
        let steps = try recipe.amendedSteps(
            by: amendments, of: content.input.photo.uprightSize)
        let output = edit.output(after: content.output(recipe))
        return try render(
            Recipe(filters: steps.compactMap { $0 }, output: output), edit, open,
            sent: content.sent(amended: steps, of: recipe, output, pictures: open.pictures))
    }

    /// Plans `render`: the last edit is rendered again, unless the result would be the same.
    static func again(_ edit: Edit, _ open: OpenAsset) throws(Failure) -> EditPlan {
        let recipe = try open.recipe(for: .render)
        guard let content = open.content else { return .unchanged("the original is current") }
        let anew = try Recipe(
            filters: recipe.filters, output: edit.output(after: content.output(recipe)))
        // The recorded output has placeholders filled in, so this very edit is known by its digest.
        if let rendering = content.rendering, rendering.render == Engine.render,
            anew == content.recipe && content.hasFields(of: edit)
                || content.editDigest == edit.changeDigest
        {
            return .unchanged(
                "\(rendering.engine) rendered this very recipe, as \(Engine.name) would"
            )
        }
        // The edit does not change, so its own editor can still read it.
        let isOurs =
            content.adjustment.formatIdentifier == AdjustmentData.minilabFormatIdentifier
        var task = RenderTask(
            input: open.input(), recipe: anew, pictures: open.pictures, sent: content.sent)
        task.opened = open.opened()
        task.keepsAdjustment = !isOurs
        return .render(task)
    }

    /// Plans `copyEdit`: the edit of another asset, with its lengths scaled to this photo. What was written into the other photo's
    /// metadata is about that photo, and is not copied.
    ///
    /// - Parameters:
    ///   - recipe: the recipe of the other asset: as it was sent, or in that asset's pixels.
    ///   - size: the upright size of the other asset.
    ///   - name: the source of the edit, as `asset@version`.
    static func copy(
        _ recipe: Recipe, of size: PixelSize, from name: String, _ edit: Edit, _ open: OpenAsset
    ) throws(Failure) -> EditPlan {
        var output = recipe.output
        output.metadata = nil
        return try render(
            Recipe(
                filters: recipe.filters, referenceSize: size,
                output: edit.output(after: output)),
            edit, open, copiedFrom: name)
    }

    static let alreadyThere = "the asset has this very edit"

    private static func render(
        _ recipe: Recipe, _ edit: Edit, _ open: OpenAsset, sent: Recipe? = nil,
        copiedFrom: String? = nil
    ) throws(Failure) -> EditPlan {
        try recipe.checkLength()
        let input = open.input()
        if input != .current, let content = open.content, content.hasFields(of: edit),
            try recipe.resolved(
                for: content.input.photo.uprightSize, pictures: open.pictures) == content.recipe,
            try content.keeps(sent ?? recipe, pictures: open.pictures)
        {
            return .unchanged(alreadyThere)
        }
        return .render(
            RenderTask(
                input: input, recipe: recipe, pictures: open.pictures, sent: sent,
                opened: open.opened(), copiedFrom: copiedFrom))
    }
}

extension Content {
    /// Whether an edit's fields make no other content: it has none, or this is the content of the edit with these very fields.
    fileprivate func hasFields(of edit: Edit) -> Bool {
        edit.fields == nil || editDigest == edit.changeDigest
    }

    /// Whether a copy of this edit is what a copy of the edit with the same pixels would be.
    fileprivate func keeps(
        _ sent: Recipe, pictures: [String: PixelSize]
    ) throws(Failure) -> Bool {
        guard let kept = try sent.kept(for: input.photo.uprightSize, pictures: pictures) else {
            return true
        }
        return kept.filters == self.sent?.filters
    }

    /// Returns what was sent, with steps in pixels in the place of those that were amended; nil if nothing was kept, or if it does
    /// not tell which recorded steps it became, such as when a picture of a mark is gone.
    fileprivate func sent(
        amended steps: [Filter?], of recipe: Recipe, _ output: Recipe.Output,
        pictures: [String: PixelSize]
    ) throws(Failure) -> Recipe? {
        guard let sent, sent.sizedPictures.isSubset(of: pictures.keys) else { return nil }
        let sentSteps = try sent.steps(for: input.photo.uprightSize, pictures: pictures)
        guard sentSteps.flatMap(\.filters) == recipe.filters else { return nil }
        var filters: [Filter] = []
        var next = 0
        for step in sentSteps {
            let amended = steps[next..<next + step.filters.count]
            next += step.filters.count
            filters +=
                Array(amended) == step.filters.map(Optional.some)
                ? [step.asked] : amended.compactMap { $0 }
        }
        return try Recipe(filters: filters, output: output)
    }
}

extension OpenAsset {
    func opened() -> Content.Opened? {
        guard let content, let answer else { return nil }
        return Content.Opened(content.adjustment, answer, input: input())
    }
}

extension Content {
    /// Returns the output settings of the render. Adjustment data of other editors do not contain them.
    func output(_ recipe: Recipe) -> Recipe.Output { self.recipe?.output ?? recipe.output }
}

extension Edit {
    /// The SHA-256 of what it changes, in hex. Renditions are beside a version: with others, it is the same change.
    var changeDigest: String {
        guard !renditions.isEmpty else { return digest }
        var change = Edit(mode, output: output, isDraft: isDraft)
        change.fields = fields
        return change.digest
    }
}
