public import Adjustments

/// A part of the list of a library's assets.
public struct AssetPage: Sendable, Equatable {
    /// In the order of their names' bytes.
    public let assets: [AssetPath]
    /// Where the list goes on; nil when these were the last.
    public let next: AssetPath?

    /// A page.
    public init(_ assets: [AssetPath], next: AssetPath? = nil) {
        (self.assets, self.next) = (assets, next)
    }
}
