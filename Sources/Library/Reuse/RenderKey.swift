public import Adjustments

/// What decides every byte of a render and of its previews: two renders of one key are the same.
///
/// Nothing else does. Threads, limits and the asset's name do not; metadata come from the photo's bytes and hold no
/// clock; files that the recipe names, it names by their digest; the AAE with its time is not part of a render.
public struct RenderKey: Sendable, Hashable {
    /// SHA-256 in hex of photo, recipe and engine as canonical JSON.
    public let hex: String

    /// Length of a key.
    static let digits = 64

    init(hex: String) { self.hex = hex }

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - photo: SHA-256 of the base's or original's bytes, in hex.
    ///   - recipe: with its output, scaled to the photo. What is automatic in it follows from the photo.
    ///   - engine: name and version of what renders.
    public init(photo: String, recipe: Recipe, engine: String) {
        hex =
            JSONValue.object([
                "photo": .string(photo), "recipe": recipe.json, "engine": .string(engine),
            ]).digest
    }
}
