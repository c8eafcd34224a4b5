/// The current version and the draft of an asset.
public struct AssetState: Sendable, Equatable {
    /// The current version; nil if the asset was never edited.
    public let current: Provenance?
    /// The draft: a version that is prepared and not published.
    public let draft: Provenance?
    /// The arrival of the latest edit that found the current version unchanged by it, in µs since 1970.
    let confirmed: Int?

    /// Creates a state.
    public init(current: Provenance? = nil, draft: Provenance? = nil, confirmed: Int? = nil) {
        self.current = current
        self.draft = draft
        self.confirmed = confirmed
    }

    /// The arrival of the edit that readers see, in µs since 1970: of the edit that made the current version, or of
    /// a later one that had nothing to change. 0 if no queue sent it.
    public var arrival: Int { max(current?.author.arrival ?? 0, confirmed ?? 0) }
}
