public import Edits

/// The outcome for a gain map, decided only from the request.
public enum GainMapRules {
    /// Decides the outcome.
    ///
    /// The strictest filter decides: one that drops, then one that requires recomputed gains, then one that keeps them. A map of
    /// three channels stays exact only under filters that treat all channels alike. No definition declares that, so such a map is
    /// recomputed.
    ///
    /// - Parameters:
    ///   - filters: the recipe's filters that are not neutral.
    ///   - channels: the map's channels, 1 or 3.
    ///   - output: the output settings.
    public static func outcome(
        of filters: [Filter], channels: Int, as format: Recipe.Format, _ wish: Recipe.HDR
    ) -> GainMapOutcome {
        if wish == .drop { return .dropped(reason: "edit.output.hdr asks for it") }
        guard format.supportsGainMap else {
            return .dropped(reason: "none is written into a \(format.rawValue)")
        }
        var strictest = GainMapOutcome.carried
        for filter in filters where !filter.changesNothing {
            let isGeometry = if case .geometry = filter.definition.kernel { true } else { false }
            switch effect(of: filter) {
            case .dropped:
                return .dropped(reason: "after \(filter.name) no gain would be true")
            case .recomputed: strictest = .recomputed
            case .carried: if channels > 1, !isGeometry { strictest = .recomputed }
            case .kept: if strictest == .carried { strictest = .kept }
            }
        }
        return strictest
    }

    /// Returns a filter's effect.
    public static func effect(of filter: Filter) -> GainEffect {
        filter.definition.gainEffect(of: filter)
    }
}

extension Recipe.Format {
    /// Whether a gain map can be written in this format.
    var supportsGainMap: Bool { self == .jpeg || self == .heic }
}
