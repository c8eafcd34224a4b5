import Edits
import Editors
import Library
import RenderProtocol

extension EditPlan {
    /// Plans `replace`: these filters on the input of the last edit.
    static func replace(
        _ steps: Edit.Steps, _ edit: Edit, _ open: OpenAsset
    ) throws(Failure) -> EditPlan {
        if steps.filters.isEmpty, edit.output == nil {
            return .unchanged("no filter was chosen and no output asked for")
        }
        if open.input() != .current, let content = open.content,
            content.editDigest == edit.json.digest
        {
            return .unchanged(alreadyThere)
        }
        return try render(
            Recipe(
                filters: steps.filters, referenceSize: steps.referenceSize,
                output: edit.output ?? Recipe.Output()), open)
    }

    /// Plans `append`: the last edit, followed by these filters.
    ///
    /// A reference size is that of a preview of the current version. If the last edit cannot be read, the filters
    /// are applied to its render.
    static func append(
        _ steps: Edit.Steps, _ edit: Edit, _ open: OpenAsset
    ) throws(Failure) -> EditPlan {
        guard let content = open.content, case .canHandle(let recipe)? = open.answer else {
            return try replace(steps, edit, open)
        }
        if steps.filters.isEmpty, edit.output == nil {
            return .unchanged("no filter was chosen and no output asked for")
        }
        let appended = try Recipe(filters: steps.filters, referenceSize: steps.referenceSize)
            .scaled(to: content.render.size)
        return try render(
            Recipe(
                filters: recipe.filters + appended.filters,
                output: edit.output ?? content.output(recipe)), open)
    }

    /// Plans `amend`: the last edit with steps changed or removed.
    static func amend(
        _ amendments: [Amendment], _ edit: Edit, _ open: OpenAsset
    ) throws(Failure) -> EditPlan {
        let recipe = try open.recipe(for: .amend).amended(by: amendments)
        return try render(
            Recipe(
                filters: recipe.filters,
                output: edit.output ?? open.content?.output(recipe) ?? recipe.output), open)
    }

    /// Plans `render`: the last edit is rendered again, unless the result would be the same.
    static func again(_ edit: Edit, _ open: OpenAsset) throws(Failure) -> EditPlan {
        let recipe = try open.recipe(for: .render)
        guard let content = open.content else { return .unchanged("the original is current") }
        let anew = try Recipe(
            filters: recipe.filters, output: edit.output ?? content.output(recipe))
        if anew == content.recipe, content.rendering?.engine == Engine.name {
            return .unchanged("\(Engine.name) rendered this very recipe")
        }
        // The edit does not change, so its own editor can still read it.
        let isOurs =
            content.adjustment.formatIdentifier == AdjustmentData.minilabFormatIdentifier
        var task = RenderTask(input: open.input(), recipe: anew)
        task.opened = open.opened()
        task.keepsAdjustment = !isOurs
        return .render(task)
    }

    /// Plans `copyEdit`: the edit of another asset, with its lengths scaled to this photo.
    ///
    /// - Parameters:
    ///   - recipe: the recipe of the other asset, in that asset's pixels.
    ///   - size: the upright size of the other asset.
    ///   - name: the source of the edit, as `asset@version`.
    static func copy(
        _ recipe: Recipe, of size: PixelSize, from name: String, _ edit: Edit, _ open: OpenAsset
    ) throws(Failure) -> EditPlan {
        try render(
            Recipe(
                filters: recipe.filters, referenceSize: size, output: edit.output ?? recipe.output),
            open, copiedFrom: name)
    }

    static let alreadyThere = "the asset has this very edit"

    private static func render(
        _ recipe: Recipe, _ open: OpenAsset, copiedFrom: String? = nil
    ) throws(Failure) -> EditPlan {
        try recipe.checkLength()
        let input = open.input()
        if input != .current, let content = open.content,
            try recipe.scaled(to: content.input.photo.uprightSize) == content.recipe
        {
            return .unchanged(alreadyThere)
        }
        return .render(
            RenderTask(
                input: input, recipe: recipe, opened: open.opened(), copiedFrom: copiedFrom))
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
