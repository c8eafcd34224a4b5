public import Editors
public import RenderProtocol

/// The settings by which edits are decided and carried out.
public struct EditingSettings: Sendable {
    /// The limits beyond which a render is refused.
    public var limits: RenderLimits
    /// The absolute path of the folder of resources that edits name by digest; nil: none.
    public var resources: String?
    /// The formats of adjustment data that can be read.
    public var editors: EditorRegistry
    /// Whether a render that a version of the library already has is reused.
    public var reusesRenders: Bool
    /// Whether renders are also reused for other tenants. Another tenant can then learn which photos the first one
    /// has, and receives the output of a child that has read the first tenant's photos. All workers of a queue must
    /// agree on it.
    public var sharesRendersAmongTenants: Bool

    /// The formats that settings add to those that ``editors`` reads: ``EditorRegistry/variant``.
    public var editorsVariant: String { editors.variant }

    public init() {
        limits = RenderLimits()
        editors = EditorRegistry([MinilabRecipe()])
        reusesRenders = true
        sharesRendersAmongTenants = false
    }
}
