public import Edits

/// A page of the list of a library's assets.
public struct AssetPage: Sendable, Equatable {
    /// The assets in the byte order of their names.
    public let assets: [AssetPath]
    /// The name after which the list continues; nil on the last page.
    public let next: AssetPath?

    /// Creates a page.
    public init(_ assets: [AssetPath], next: AssetPath? = nil) {
        (self.assets, self.next) = (assets, next)
    }
}
