public import Adjustments

/// What the worker asks of a render child: one JSON line on its standard input.
///
/// A child answers each request with exactly one ``RenderReply`` line on standard output, in order,
/// and works on one photo at a time.
public enum RenderRequest: Sendable, Codable {
    /// Read the header of a photo and plan its render; no pixels. Answer: `probed`.
    case probe(ProbeRequest)
    /// Read a photo once, for the SHA-256 of its bytes: its absolute path. Answer: `digested`.
    case digest(source: String)
    /// Render a photo into a folder. Answer: `rendered`.
    case render(PhotoRequest)
    /// Draw small pictures side by side. Answer: `drawn`.
    case contactSheet(ContactSheetRequest)
    /// Say what keeps you from doing harm. Answer: `confined`.
    case confinement
}

/// Which photo to read, for which edit.
public struct ProbeRequest: Sendable, Codable {
    /// Absolute path of the photo.
    public let source: String
    /// The edit to plan, as it was sent.
    public let recipe: Recipe
    /// What is refused.
    public let limits: RenderLimits
    /// Absolute path of the folder of files that edits name by digest, or nil when there is none.
    public let resources: String?
    /// Longest side of the result, as of ``PhotoRequest/longestSide``.
    public let longestSide: Int?
    /// Memory that the render may need in bytes: what needs more is planned in a way that needs less, or
    /// refused with `exceedsMemoryBudget`. Nil for no bound.
    public let memoryMax: Int?

    /// Makes a request.
    public init(
        source: String, recipe: Recipe, limits: RenderLimits, resources: String? = nil,
        longestSide: Int? = nil, memoryMax: Int? = nil
    ) {
        self.source = source
        self.recipe = recipe
        self.limits = limits
        self.resources = resources
        self.longestSide = longestSide
        self.memoryMax = memoryMax
    }
}

extension ProbeRequest {
    /// What to ask before a render: its plan will be the same.
    public init(_ request: PhotoRequest) {
        self.init(
            source: request.source, recipe: request.recipe, limits: request.limits,
            resources: request.resources, longestSide: request.longestSide,
            memoryMax: request.memoryMax)
    }
}

/// Which photo to render, how, and where to.
public struct PhotoRequest: Sendable, Codable {
    /// Absolute path of the photo.
    public let source: String
    /// The edit, as it was sent: the child scales it to the photo's size.
    public let recipe: Recipe
    /// What is refused.
    public let limits: RenderLimits
    /// Absolute path of the folder of files that edits name by digest, or nil when there is none.
    public let resources: String?
    /// Absolute path of an existing folder of this job alone: the result and any spool file go there.
    public let folder: String
    /// Name of the result without its extension, which follows from the format.
    public let stem: String
    /// Longest side of the result in pixels, or nil for full size: a preview is made of a small copy, and
    /// lengths shrink with it.
    public let longestSide: Int?
    /// Memory that the render may need in bytes, as of ``ProbeRequest/memoryMax``.
    public let memoryMax: Int?

    /// Longest side of a preview that can be asked for, in pixels.
    public static let longestSideRange = 16...16_384

    /// Makes a request.
    public init(
        source: String, recipe: Recipe, limits: RenderLimits, resources: String? = nil,
        folder: String, stem: String, longestSide: Int? = nil, memoryMax: Int? = nil
    ) {
        self.source = source
        self.recipe = recipe
        self.limits = limits
        self.resources = resources
        self.folder = folder
        self.stem = stem
        self.longestSide = longestSide
        self.memoryMax = memoryMax
    }
}
