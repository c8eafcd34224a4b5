/// What a filter is called, which parameters it takes, and how close to Core Image it comes.
///
/// Definitions are data: validation, scaling, help texts and the schema in `jobs/` all read them.
/// The pixel mathematics of a filter is in the file of the same name in `Rendering`.
public struct FilterDefinition: Sendable {
    /// The name Core Image gives it, such as `CISepiaTone`.
    public let name: String
    /// One sentence: what it does to a photo.
    public let summary: String
    /// Its parameters; empty for a filter without any.
    public let parameters: [ParameterDefinition]
    /// Which pixels of the input one pixel of the output depends on.
    public let reach: Reach
    /// How close to Core Image it is, and how we know.
    public let fidelity: Fidelity

    /// Which pixels of the input one pixel of the output depends on.
    public enum Reach: Sendable {
        /// Only on the pixel at the same place: such filters are fused into one pass.
        case pixel
        /// On its neighbours too.
        case neighbourhood
    }

    /// How close to Core Image's own pixels a filter comes.
    public enum Fidelity: Sendable {
        /// Compared with pixels that Core Image rendered; the RMS error in 8-bit sRGB steps.
        case measured(rms: Double)
        /// Apple's kernel is unpublished: an open equivalent that may look different.
        case lookAlike
    }
}

/// One parameter of a filter.
public struct ParameterDefinition: Sendable {
    /// The name Core Image gives it, such as `inputIntensity`.
    public let name: String
    /// The value when a recipe does not say.
    public let defaultValue: Double
    /// Values outside are refused.
    public let range: ClosedRange<Double>
    /// What the number counts.
    public let unit: Unit

    /// What a parameter's number counts.
    public enum Unit: String, Sendable {
        /// A plain factor.
        case factor
        /// Pixels of the photo the edit was made on: scales with the photo.
        case pixels
        /// Radians, counter-clockwise.
        case radians
    }

    /// The short name that is accepted too: `inputIntensity` → `intensity`, as Core Image's
    /// typed Swift interface spells it.
    public var shortName: String {
        guard name.hasPrefix("input") else { return name }
        let rest = name.dropFirst("input".count)
        return rest.prefix(1).lowercased() + rest.dropFirst()
    }
}
