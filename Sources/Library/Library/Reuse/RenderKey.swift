public import Edits

/// The key that determines every byte of a render and its previews: two renders with one key are the same.
///
/// It includes the owner. A child that one tenant's photo has taken over can corrupt the renders of that tenant's
/// next photos, and another tenant with the same photo must not receive those.
///
/// Nothing else affects the bytes. Threads, limits and the asset's name do not; metadata come from the photo's
/// bytes and contain no current time; a recipe names resources by their digest; the AAE, which has a time, is not
/// part of a render.
public struct RenderKey: Sendable, Hashable {
    /// The SHA-256, in hex, of photo, recipe, engine and owner as canonical JSON.
    public let hex: String

    /// The length of a key.
    private static let digits = 64

    /// Parses a recorded key; nil if it is invalid.
    package init?(recorded hex: String) {
        guard hex.utf8.count == Self.digits, hex.allSatisfy(\.isHexDigit) else { return nil }
        self.hex = hex
    }

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - photo: the SHA-256 of the bytes of the base or original, in hex.
    ///   - recipe: the recipe with its output, scaled to the photo. Automatic values follow from the photo.
    ///   - engine: the name and version of the renderer.
    ///   - owner: the owner of the render, for whose jobs alone it is reused.
    public init(photo: String, recipe: Recipe, engine: String, owner: Owner) {
        var fields: [String: JSONValue] = [
            "photo": .string(photo), "recipe": recipe.json, "engine": .string(engine),
        ]
        switch owner {
        case .operator: break
        case .tenant(let tenant): fields["tenant"] = .string(tenant.string)
        case .photo(let name): fields["asset"] = .string(name)
        }
        hex = JSONValue.object(fields).digest
    }
}
