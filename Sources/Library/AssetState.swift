/// The current version and the draft of an asset.
public struct AssetState: Sendable, Equatable {
    /// The current version; nil when nobody has edited the asset.
    public let current: Provenance?
    /// The version that is prepared and not published.
    public let draft: Provenance?
    /// When the latest edit arrived that found the current version to be what it asks for, in µs since 1970.
    let confirmed: Int?

    /// Makes a state.
    public init(current: Provenance? = nil, draft: Provenance? = nil, confirmed: Int? = nil) {
        self.current = current
        self.draft = draft
        self.confirmed = confirmed
    }

    /// When the edit arrived that readers see, in µs since 1970: the one that made the current version, or a later one
    /// that found nothing to change. 0 when no queue sent it.
    public var arrival: Int { max(current?.author.arrival ?? 0, confirmed ?? 0) }
}
