public import Adjustments

/// What decides every byte of a render and of its previews: two renders of one key are the same.
///
/// And whose it is: a child that one tenant's photo has taken over can spoil what it renders of that tenant's next photos,
/// and another tenant with the same photo is not to have that.
///
/// Nothing else decides. Threads, limits and the asset's name do not; metadata come from the photo's bytes and hold no
/// clock; files that the recipe names, it names by their digest; the AAE with its time is not part of a render.
public struct RenderKey: Sendable, Hashable {
    /// SHA-256 in hex of photo, recipe, engine and tenant as canonical JSON.
    public let hex: String

    /// Length of a key.
    private static let digits = 64

    /// Reads a key; nil when it is none.
    package init?(recorded hex: String) {
        guard hex.utf8.count == Self.digits, hex.allSatisfy(\.isHexDigit) else { return nil }
        self.hex = hex
    }

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - photo: SHA-256 of the base's or original's bytes, in hex.
    ///   - recipe: with its output, scaled to the photo. What is automatic in it follows from the photo.
    ///   - engine: name and version of what renders.
    ///   - tenant: who can have it; the empty one is an operator's own.
    public init(photo: String, recipe: Recipe, engine: String, tenant: String = "") {
        var fields: [String: JSONValue] = [
            "photo": .string(photo), "recipe": recipe.json, "engine": .string(engine),
        ]
        if !tenant.isEmpty { fields["tenant"] = .string(tenant) }
        hex = JSONValue.object(fields).digest
    }
}
