public import Adjustments

/// The fate of a gain map, decided from the request alone.
public enum GainMapRules {
    /// Decides it.
    ///
    /// The strictest filter decides: one that drops, then one that has gains computed anew, then one that keeps them. A map of three
    /// channels stays exact only under filters that treat all channels alike, which no definition says: it is computed anew.
    ///
    /// - Parameters:
    ///   - filters: those of the recipe that change something.
    ///   - channels: of the map, 1 or 3.
    ///   - output: how the result is written.
    public static func outcome(
        of filters: [Filter], channels: Int, as format: Recipe.Format, _ wish: Recipe.HDR
    ) -> GainMapOutcome {
        if wish == .drop { return .dropped(reason: "edit.output.hdr asks for it") }
        guard format.holdsGainMap else {
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

    /// A filter's effect.
    public static func effect(of filter: Filter) -> GainEffect {
        filter.definition.gainEffect(of: filter)
    }
}

extension Recipe.Format {
    /// Whether we write a gain map into it.
    var holdsGainMap: Bool { self == .jpeg || self == .heic }
}
