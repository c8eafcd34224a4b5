/// The effect of a filter on a photo's gain map.
///
/// With light b, gain g and filter F: a map stays true where F(g·b) = g·F(b) and F(b) needs no limit.
public enum GainEffect: Sendable, Equatable {
    /// Gains stay what they are: it multiplies light by what does not depend on how bright it is, or moves places.
    case carried
    /// Gains are computed anew: it clips, mixes places, or covers some. It must be defined for light beyond 1.
    case recomputed
    /// Gains are kept although they are not exactly true: a curve, as Apple's Photos keeps the map for.
    case kept
    /// No gain would be true: the map goes.
    case dropped
}

/// How a filter's effect on gains follows from its parameters; each definition states its own.
public struct GainRule: Sendable {
    /// The effect of a filter with checked parameters.
    public let effect: @Sendable (Filter) -> GainEffect

    /// An effect that depends on parameters.
    public static func depends(_ effect: @escaping @Sendable (Filter) -> GainEffect) -> GainRule {
        GainRule(effect: effect)
    }

    /// Always so.
    public static let carried = GainRule { _ in .carried }
    /// Always so.
    public static let recomputed = GainRule { _ in .recomputed }
    /// Always so.
    public static let kept = GainRule { _ in .kept }
    /// Always so.
    public static let dropped = GainRule { _ in .dropped }

    private init(effect: @escaping @Sendable (Filter) -> GainEffect) { self.effect = effect }
}

extension FilterDefinition {
    /// Its effect on the gain map.
    ///
    /// A definition that says nothing gets what is true of its kind, and where a kind says nothing ``GainEffect/dropped``: a map
    /// that is left out is told and looks flat, one that is wrong looks broken and nobody is told.
    public func gainEffect(of filter: Filter) -> GainEffect {
        gain?.effect(filter) ?? gainOfKind ?? .dropped
    }

    /// That of all filters of its kind; nil where each has to say.
    public var gainOfKind: GainEffect? {
        if case .geometry = kernel { return .carried }
        return switch category {
        case .photoEffect, .lookUpTable: .kept
        // They limit light to 1, so nothing can be computed of HDR.
        case .css: .kept
        case .tone, .blur, .stylise, .geometry, .local, .gradient, .automatic: nil
        }
    }
}
