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
    /// The way it is computed.
    public let kernel: FilterKernel

    /// Makes a definition.
    public init(
        name: String, summary: String, category: Category,
        parameters: [ParameterDefinition] = [], fidelity: Fidelity, source: String,
        gain: GainRule? = nil, light: LightRule = .upToWhite, kernel: FilterKernel
    ) {
        self.name = name
        self.summary = summary
        self.category = category
        self.parameters = parameters
        self.fidelity = fidelity
        self.source = source
        self.gain = gain
        self.light = light
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
