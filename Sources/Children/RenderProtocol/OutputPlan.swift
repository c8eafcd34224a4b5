public import Edits

/// The parameters with which the result is written, with every choice made.
public struct OutputPlan: Sendable, Codable, Equatable {
    /// The format.
    public let format: Recipe.Format
    /// The quality of a lossy format, 0 to 1.
    public let quality: Double
    /// The chroma subsampling of the encoder.
    public var chroma: Recipe.Chroma
    /// Whether the picture appears coarsely first while it loads.
    public let progressive: Bool
    /// The bits of a sample.
    public let bitDepth: Recipe.BitDepth
    /// The compression of a lossless format; nil for a format with a quality.
    public let compression: Recipe.Compression?
    /// Whether transparency is kept; otherwise the picture is composited over ``background``.
    public let keepsAlpha: Bool
    /// The background of transparent parts.
    public let background: Recipe.Background
    /// The colour space of the numbers.
    public let colorSpace: Recipe.ColorSpace
    /// The parts of the metadata that are left out.
    public let strip: Recipe.Strip

    /// Creates a plan.
    public init(
        format: Recipe.Format, quality: Double, chroma: Recipe.Chroma, progressive: Bool,
        bitDepth: Recipe.BitDepth, compression: Recipe.Compression? = nil, keepsAlpha: Bool,
        background: Recipe.Background,
        colorSpace: Recipe.ColorSpace, strip: Recipe.Strip
    ) {
        self.format = format
        self.quality = quality
        self.chroma = chroma
        self.progressive = progressive
        self.bitDepth = bitDepth
        self.compression = compression
        self.keepsAlpha = keepsAlpha
        self.background = background
        self.colorSpace = colorSpace
        self.strip = strip
    }
}

extension OutputPlan: CustomStringConvertible {
    /// One line for people that names all parameters that differ from the usual ones.
    public var description: String {
        var labels = ["\(format.rawValue)", "\(bitDepth.rawValue) bit"]
        if format.isLossy { labels += ["quality \(quality)", chroma.rawValue] }
        switch compression {
        case .uncompressed: labels.append("uncompressed")
        case .small: labels.append("compressed with patience")
        case .fast, nil: break
        }
        if progressive { labels.append("progressive") }
        if keepsAlpha { labels.append("with alpha") }
        if colorSpace != .source { labels.append("as \(colorSpace.rawValue)") }
        switch strip {
        case .none: break
        case .gps: labels.append("without the location")
        case .all: labels.append("without metadata")
        }
        return labels.joined(separator: ", ")
    }
}
