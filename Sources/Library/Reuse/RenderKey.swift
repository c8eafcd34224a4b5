public import Adjustments

/// What decides every byte of a render and of its previews, and whose it is: two renders of one key are the same.
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
    ///   - tenant: whose render it is. A child that one tenant's photo has taken over may spoil that tenant's later
    ///     renders; no other tenant takes one of these over.
    public init(photo: String, recipe: Recipe, engine: String, tenant: String = "") {
        var parts: [String: JSONValue] = [
            "photo": .string(photo), "recipe": recipe.json, "engine": .string(engine),
        ]
        if !tenant.isEmpty { parts["tenant"] = .string(tenant) }
        hex = JSONValue.object(parts).digest
    }
}
