/// Every filter that Minilab renders.
public enum FilterCatalogue {
    /// All definitions, by name.
    public static let all: [FilterDefinition] = [
        .colorInvert, .edges, .motionBlur, .photoEffectMono, .sepiaTone,
    ]

    /// The definition of the filter of that name, or nil.
    public static func definition(named name: String) -> FilterDefinition? {
        all.first { $0.name == name }
    }
}
