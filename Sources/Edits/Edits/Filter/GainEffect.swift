/// The effect of a filter on a photo's gain map.
///
/// With light b, gain g and filter F, a map stays valid if F(g·b) = g·F(b) and F(b) is not clipped.
public enum GainEffect: Sendable, Equatable {
    /// The gains stay unchanged: the filter multiplies light by a factor that does not depend on brightness, or moves pixels.
    case carried
    /// The gains are recomputed: the filter clips, mixes pixels, or covers some. It must be defined for light beyond 1.
    case recomputed
    /// The gains are kept although they are only approximate: for a curve, as Apple's Photos does.
    case kept
    /// The gains would be wrong: the map is dropped.
    case dropped
}

/// A rule from a filter's parameters to its effect on gains; each definition states its own.
public struct GainRule: Sendable {
    /// The effect of a filter with checked parameters.
    public let effect: @Sendable (Filter) -> GainEffect

    /// A rule for an effect that depends on parameters.
    public static func depends(_ effect: @escaping @Sendable (Filter) -> GainEffect) -> GainRule {
        GainRule(effect: effect)
    }

    /// The rule of always ``GainEffect/carried``.
    public static let carried = GainRule { _ in .carried }
    /// The rule of always ``GainEffect/recomputed``.
    public static let recomputed = GainRule { _ in .recomputed }
    /// The rule of always ``GainEffect/kept``.
    public static let kept = GainRule { _ in .kept }
    /// The rule of always ``GainEffect/dropped``.
    public static let dropped = GainRule { _ in .dropped }

    private init(effect: @escaping @Sendable (Filter) -> GainEffect) { self.effect = effect }
}

extension FilterDefinition {
    /// Returns the effect on the gain map.
    ///
    /// A definition without a rule has the effect of its kind, and if the kind has none, ``GainEffect/dropped``: a dropped map is
    /// reported and the photo looks flat, while a wrong map looks broken and is not reported.
    public func gainEffect(of filter: Filter) -> GainEffect {
        gain?.effect(filter) ?? gainOfKind ?? .dropped
    }

    /// The effect of all filters of this kind; nil if each must define its own.
    public var gainOfKind: GainEffect? {
        if case .geometry = kernel { return .carried }
        return switch category {
        case .photoEffect, .lookUpTable: .kept
        // CSS filters limit light to 1, so gains cannot be recomputed.
        case .css: .kept
        case .tone, .blur, .stylise, .geometry, .local, .gradient, .automatic: nil
        }
    }
}
