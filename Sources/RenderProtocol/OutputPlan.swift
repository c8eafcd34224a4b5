public import Adjustments

/// How the result is written, with every choice made.
public struct OutputPlan: Sendable, Codable, Equatable {
    /// The format.
    public let format: Recipe.Format
    /// Quality of a lossy format, 0 to 1.
    public let quality: Double
    /// Detail of colour that the encoder keeps.
    public var chroma: Recipe.Chroma
    /// Whether it shows coarsely first while it loads.
    public let progressive: Bool
    /// Bits of a sample.
    public let bitDepth: Recipe.BitDepth
    /// How a format without loss is compressed; nil for one whose quality decides.
    public let compression: Recipe.Compression?
    /// Whether transparency is kept; else it is laid on ``background``.
    public let keepsAlpha: Bool
    /// What transparent parts are laid on.
    public let background: Recipe.Background
    /// What the numbers mean.
    public let colorSpace: Recipe.ColorSpace
    /// What is left out of the metadata.
    public let strip: Recipe.Strip

    /// Makes a plan.
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
    /// One line for people, with what is not as everybody expects.
    public var description: String {
        var words = ["\(format.rawValue)", "\(bitDepth.rawValue) bit"]
        if format.isLossy { words += ["quality \(quality)", chroma.rawValue] }
        switch compression {
        case .uncompressed: words.append("uncompressed")
        case .small: words.append("compressed with patience")
        case .fast, nil: break
        }
        if progressive { words.append("progressive") }
        if keepsAlpha { words.append("with alpha") }
        if colorSpace != .source { words.append("as \(colorSpace.rawValue)") }
        switch strip {
        case .none: break
        case .gps: words.append("without the location")
        case .all: words.append("without metadata")
        }
        return words.joined(separator: ", ")
    }
}
