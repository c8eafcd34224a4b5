/// The name of a filter, its parameters, its fidelity to Core Image, and its computation.
///
/// Definitions are data: validation, scaling, `minilab filters`, the schema and the page of filters in `jobs/` are all made from
/// them.
public struct FilterDefinition: Sendable {
    /// The filter's name in Core Image, such as `CISepiaTone`; filters of CSS have the prefix `css:`.
    public let name: String
    /// One sentence: the effect on a photo.
    public let summary: String
    /// The heading under which lists show it.
    public let category: Category
    /// Its parameters; empty for a filter without any.
    public let parameters: [ParameterDefinition]
    /// The fidelity to Core Image, and the evidence for it.
    public let fidelity: Fidelity
    /// The source of its mathematics, and its special properties; whole sentences.
    public let source: String
    /// Its effect on the photo's gain map; nil for the effect of its kind, see ``gainEffect(of:)``.
    public let gain: GainRule?
    /// The range of light for which it is valid; see ``lightRange(of:)``.
    public let light: LightRule
    /// Names that are no parameters of it although something similar has them, each with the sentence that says what has it.
    public let elsewhere: [String: String]
    /// Rules between its parameters, as JSON Schemas that its own includes; the kernel checks the same.
    public let schemaRules: [JSONValue]
    /// The way it is computed.
    public let kernel: FilterKernel

    public init(
        name: String, summary: String, category: Category,
        parameters: [ParameterDefinition] = [], fidelity: Fidelity, source: String,
        gain: GainRule? = nil, light: LightRule = .upToWhite, elsewhere: [String: String] = [:],
        schemaRules: [JSONValue] = [], kernel: FilterKernel
    ) {
        self.name = name
        self.summary = summary
        self.category = category
        self.parameters = parameters
        self.fidelity = fidelity
        self.source = source
        self.gain = gain
        self.light = light
        self.elsewhere = elsewhere
        self.schemaRules = schemaRules
        self.kernel = kernel
    }

    /// A heading in lists of filters.
    public enum Category: String, Sendable, CaseIterable {
        case tone = "Tone and colour"
        case photoEffect = "Photo effects"
        case lookUpTable = "Look-up tables"
        case blur = "Blur and sharpen"
        case stylise = "Stylise"
        case geometry = "Geometry"
        case local = "Local and compositing"
        case gradient = "Gradients, for masks"
        case css = "CSS filters"
        case automatic = "Automatic"
    }

    /// The fidelity of a filter to its model's pixels.
    public enum Fidelity: Sendable, Equatable {
        /// Defined by a published formula, or equal to Core Image's pixels except for rounding.
        case exact
        /// Compared with pixels that Core Image rendered; the RMS error in 8-bit sRGB steps.
        case measured(rms: Double)
        /// Apple's kernel is unpublished: an open equivalent that may look different.
        case lookAlike
    }
}

/// The way a filter is computed.
///
/// Each case makes the filter's executable form from its checked parameters. It is made when a render is planned, before any pixel
/// is read. So errors that the parameters' ranges cannot exclude (a singular matrix, a broken table) are reported at that time.
public enum FilterKernel: Sendable {
    /// Computes each pixel independently.
    case pixel(@Sendable (Filter, FilterContext) throws(Failure) -> any PixelFilter)
    /// Computes each pixel from its neighbours.
    case neighbourhood(
        @Sendable (Filter, FilterContext) throws(Failure) -> any NeighbourhoodFilter)
    /// Moves pixels. Consecutive geometries are combined, see ``Geometry``.
    case geometry(@Sendable (Filter, FilterContext) throws(Failure) -> Geometry)
    /// Makes a picture without a photo, such as a gradient. Its pixels are those of a ``PixelFilter`` that ignores its input.
    case generator(@Sendable (Filter, FilterContext) throws(Failure) -> any PixelFilter)
    /// Is replaced by other filters, which are chosen by statistics of the photo.
    case automatic(@Sendable (Filter, PhotoStatistics) throws(Failure) -> [Filter])
    /// Exists in requests only, and is replaced by other filters, which follow from the size of the picture that it gets, and from
    /// the sizes of those that it names; see ``Recipe/resolved(for:pictures:)``. It is made when an edit is read, so that
    /// parameters which do not go together are refused then.
    case sized(
        @Sendable (Filter, _ path: String) throws(Failure)
            -> @Sendable (SizedPlace) throws(Failure) -> SizedFilters)
}

/// The sizes from which the filters of a step follow that exists in requests only.
public struct SizedPlace: Sendable {
    /// The upright size of the picture that the step gets.
    public let size: PixelSize
    /// The upright sizes of the pictures that steps name, by digest.
    public let pictures: [String: PixelSize]

    public init(size: PixelSize, pictures: [String: PixelSize] = [:]) {
        self.size = size
        self.pictures = pictures
    }
}

/// The filters that a step of a request becomes.
public struct SizedFilters: Sendable, Equatable {
    /// In pixels; none if the step changes nothing.
    public let filters: [Filter]
    /// A sentence for people about a choice that the photo forced; nil for none.
    public let note: String?

    public init(_ filters: [Filter], note: String? = nil) {
        self.filters = filters
        self.note = note
    }
}

/// The environment for which a filter is made.
public struct FilterContext: Sendable {
    /// The upright size of the filter's input.
    public let size: PixelSize
    /// Reads a resource by digest (`"sha256:…"`); throws `badResource` if it has more than `bytesMax` bytes.
    public let resource: @Sendable (_ digest: String, _ bytesMax: Int) throws(Failure) -> [UInt8]

    /// Reads a resource as a picture, by digest.
    public let picture:
        @Sendable (_ digest: String, _ fit: ResourcePicture.Fit) throws(Failure) -> ResourcePicture

    public init(
        size: PixelSize,
        resource:
            @escaping @Sendable (_ digest: String, _ bytesMax: Int) throws(Failure) -> [UInt8],
        picture:
            @escaping @Sendable (_ digest: String, _ fit: ResourcePicture.Fit) throws(Failure)
            -> ResourcePicture
    ) {
        self.size = size
        self.resource = resource
        self.picture = picture
    }

    /// A context without resources.
    public init(size: PixelSize) {
        @Sendable func missing(_ digest: String) -> Failure {
            Failure(
                .missingResource,
                "The file \(digest) was asked for and there is no folder of resources.")
        }
        self.init(
            size: size, resource: { digest, _ throws(Failure) in throw missing(digest) },
            picture: { digest, _ throws(Failure) in throw missing(digest) })
    }
}

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
        case .geometry, .generator, .automatic, .sized: .unlimited
        case .pixel, .neighbourhood: light.range(filter)
        }
    }
}

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
