/// The light that a filter's mathematics is right for.
public enum LightRange: Sendable, Equatable {
    /// Any amount: nothing is cut off at white, and more light never becomes less.
    case unlimited
    /// From black to white: light above it is cut off, falls, or gets what the filter was never made for.
    case upToWhite
}

/// How a filter's range of light follows from its parameters; each definition states its own.
public struct LightRule: Sendable {
    /// The range of a filter with checked parameters.
    public let range: @Sendable (Filter) -> LightRange

    /// A range that depends on parameters.
    ///
    /// - Parameter isUnlimited: whether it is without limit.
    public static func unlimited(
        when isUnlimited: @escaping @Sendable (Filter) -> Bool
    ) -> LightRule {
        LightRule { isUnlimited($0) ? .unlimited : .upToWhite }
    }

    /// Always so.
    public static let unlimited = LightRule { _ in .unlimited }
    /// Always so.
    public static let upToWhite = LightRule { _ in .upToWhite }

    private init(range: @escaping @Sendable (Filter) -> LightRange) { self.range = range }
}

extension FilterDefinition {
    /// The light that a filter is right for; HDR movies have light above white.
    ///
    /// A definition that says nothing is right up to white: a filter that is refused is told, and light that is lost is not. Places have no
    /// light, and a filter that stands for others leaves it to them.
    public func lightRange(of filter: Filter) -> LightRange {
        switch kernel {
        case .geometry, .generator, .automatic: .unlimited
        case .pixel, .neighbourhood: light.range(filter)
        }
    }
}
