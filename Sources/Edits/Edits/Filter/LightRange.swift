/// The range of light for which a filter's mathematics is valid.
public enum LightRange: Sendable, Equatable {
    /// Any amount: light is not clipped at white, and the result never decreases with more light.
    case unlimited
    /// From black to white: light above white is clipped, decreases, or is outside of the filter's definition.
    case upToWhite
}

/// A rule from a filter's parameters to its range of light; each definition states its own.
public struct LightRule: Sendable {
    /// The range of a filter with checked parameters.
    public let range: @Sendable (Filter) -> LightRange

    /// A rule for a range that depends on parameters.
    ///
    /// - Parameter isUnlimited: whether the range is unlimited.
    public static func unlimited(
        when isUnlimited: @escaping @Sendable (Filter) -> Bool
    ) -> LightRule {
        LightRule { isUnlimited($0) ? .unlimited : .upToWhite }
    }

    /// The rule of always ``LightRange/unlimited``.
    public static let unlimited = LightRule { _ in .unlimited }
    /// The rule of always ``LightRange/upToWhite``.
    public static let upToWhite = LightRule { _ in .upToWhite }

    private init(range: @escaping @Sendable (Filter) -> LightRange) { self.range = range }
}

extension FilterDefinition {
    /// Returns the range of light for which a filter is valid; HDR movies have light above white.
    ///
    /// A definition without a rule is valid up to white: a rejected filter is reported, while lost light is not. Geometries do not
    /// depend on light, and an automatic filter leaves the range to its replacements.
    public func lightRange(of filter: Filter) -> LightRange {
        switch kernel {
        case .geometry, .generator, .automatic: .unlimited
        case .pixel, .neighbourhood: light.range(filter)
        }
    }
}
