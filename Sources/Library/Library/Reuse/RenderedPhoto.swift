public import Edits

/// The render of a version with its input and previews: rendered now, or reused from another version.
public struct RenderedPhoto: Sendable {
    /// The input of the render.
    public let input: Content.Input
    /// The recipe as resolved for the full photo.
    public let recipe: Recipe
    /// The record of the rendering.
    package var rendering: Content.Rendering
    /// The render, under its name in the new version.
    public let render: Content.Image
    /// The movie of a Live Photo, under its name in the new version; nil for a photo alone.
    package var pairedVideo: Content.Image?
    /// The previews.
    public let previews: [Content.Preview]
    /// The tiny JPEG that accompanies the previews.
    public let placeholder: String?
    /// The source of a reused render, as `asset@version`; nil if this job made it, also in an earlier attempt.
    public let reusedFrom: String?

    /// Creates the description of a new render.
    package init(
        input: Content.Input, recipe: Recipe, rendering: Content.Rendering, render: Content.Image,
        previews: [Content.Preview], placeholder: String?
    ) {
        self.input = input
        self.recipe = recipe
        self.rendering = rendering
        self.render = render
        self.previews = previews
        self.placeholder = placeholder
        reusedFrom = nil
    }

    /// Creates the description of a render that is reused; nil if the version's content does not record the rendering.
    ///
    /// - Parameters:
    ///   - stem: the stem of the file names in the version that reuses the render.
    package init?(_ content: Content, as stem: String, from: String?) {
        guard let recipe = content.recipe, let rendering = content.rendering else { return nil }
        input = content.input
        self.recipe = recipe
        self.rendering = rendering
        render = content.render.renamed(stem)
        pairedVideo = content.pairedVideo?.renamed(stem)
        previews = content.previews
        placeholder = content.placeholder
        reusedFrom = from
    }
}
