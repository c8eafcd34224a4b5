/// What a filter is called, which parameters it takes, how close to Core Image it comes, and how it
/// is computed.
///
/// Definitions are data: validation, scaling, `minilab filters`, the schema and the page of filters in
/// `jobs/` are all made from them.
public struct FilterDefinition: Sendable {
    /// The name Core Image gives it, such as `CISepiaTone`; CSS's own have the prefix `css:`.
    public let name: String
    /// One sentence: what it does to a photo.
    public let summary: String
    /// Where it stands in lists.
    public let category: Category
    /// Its parameters; empty for a filter without any.
    public let parameters: [ParameterDefinition]
    /// How close to Core Image it is, and how we know.
    public let fidelity: Fidelity
    /// Where its mathematics is from, and what is special about it; whole sentences.
    public let source: String
    /// Its effect on the photo's gain map; nil: that of its kind, see ``gainEffect(of:)``.
    public let gain: GainRule?
    /// The light that it is right for; see ``lightRange(of:)``.
    public let light: LightRule
    /// How it is computed.
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

    /// Where a filter stands in lists.
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

    /// How close to its model's own pixels a filter comes.
    public enum Fidelity: Sendable, Equatable {
        /// Defined by a formula that is published, or equal to Core Image's pixels but for rounding.
        case exact
        /// Compared with pixels that Core Image rendered; the RMS error in 8-bit sRGB steps.
        case measured(rms: Double)
        /// Apple's kernel is unpublished: an open equivalent that may look different.
        case lookAlike
    }
}
