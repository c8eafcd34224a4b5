public import Adjustments

/// What a render child answers: one JSON line on its standard output.
public enum RenderReply: Sendable, Codable {
    /// The header was read and the render planned.
    case probed(header: PhotoHeader, plan: RenderPlan)
    /// The photo was read: SHA-256 of its bytes, in hex.
    case digested(sha256: String)
    /// The photo was rendered.
    case rendered(RenderReport)
    /// The contact sheet was drawn.
    case drawn
    /// What keeps the child from doing harm.
    case confined(Confinement)
    /// The request failed; nothing of it is left but files in the request's folder.
    case failed(Failure)
}

/// What a photo's header says.
public struct PhotoHeader: Sendable, Codable, Equatable {
    /// What the content is, whatever the file's name says: `jpeg`, `png`, `heif` …
    public let format: String
    /// Size as stored, before orientation.
    public let storedSize: PixelSize
    /// EXIF orientation, 1 to 8; 1 where the container itself has turned the picture.
    public let orientation: Int
    /// Channels, alpha included.
    public let bands: Int
    /// Bits of one sample: 8, 16 or 32.
    public let bitsPerSample: Int
    /// Whether the last channel is alpha.
    public let hasAlpha: Bool
    /// Whether an ICC profile is embedded.
    public let hasProfile: Bool
    /// How much of the colour's detail a JPEG has; nil for other formats and for rarer ways.
    public let chroma: Recipe.Chroma?
    /// Rows that its decoder makes together: all of them where a picture is compressed as a whole (a JPEG of
    /// several scans, an interlaced PNG, HEIF, WebP, JPEG XL, GIF, RAW), the height of a TIFF's tiles or strips,
    /// else 1.
    public let rowsAtOnce: Int
    /// What the still and the video of a Live Photo have in common, when the photo has it.
    public let contentIdentifier: String?
    /// What a person should know, such as which page of several is read.
    public let notes: [String]

    /// Makes a header.
    public init(
        format: String, storedSize: PixelSize, orientation: Int, bands: Int, bitsPerSample: Int,
        hasAlpha: Bool, hasProfile: Bool, chroma: Recipe.Chroma? = nil,
        rowsAtOnce: Int = 1, contentIdentifier: String? = nil, notes: [String] = []
    ) {
        self.format = format
        self.storedSize = storedSize
        self.orientation = orientation
        self.bands = bands
        self.bitsPerSample = bitsPerSample
        self.hasAlpha = hasAlpha
        self.hasProfile = hasProfile
        self.chroma = chroma
        self.rowsAtOnce = rowsAtOnce
        self.contentIdentifier = contentIdentifier
        self.notes = notes
    }

    /// The header of a copy of another size.
    public func resized(to storedSize: PixelSize) -> PhotoHeader {
        PhotoHeader(
            format: format, storedSize: storedSize, orientation: orientation, bands: bands,
            bitsPerSample: bitsPerSample, hasAlpha: hasAlpha, hasProfile: hasProfile,
            chroma: chroma, rowsAtOnce: rowsAtOnce, contentIdentifier: contentIdentifier,
            notes: notes)
    }

    /// Whether its decoder makes the picture as a whole.
    public var isDecodedWhole: Bool { rowsAtOnce >= storedSize.height && rowsAtOnce > 1 }

    /// Size as a person sees it: orientations 5 to 8 swap the sides.
    public var uprightSize: PixelSize {
        orientation >= 5
            ? PixelSize(width: storedSize.height, height: storedSize.width) : storedSize
    }
}

/// What one render made and what it cost.
public struct RenderReport: Sendable, Codable {
    /// The original's header.
    public let header: PhotoHeader
    /// SHA-256 of the original's bytes, in hex.
    public let sourceDigest: String
    /// The recipe in full-size pixels: what the adjustment data records.
    public let recipe: Recipe
    /// How it was rendered.
    public let plan: RenderPlan
    /// The file that was written.
    public let output: RenderedFile
    /// Time from request to answer, in milliseconds.
    public let wallMilliseconds: Double
    /// Processor time of all the child's threads for this request, in milliseconds.
    public let cpuMilliseconds: Double
    /// Highest resident set of the child during this request, in bytes.
    public let peakMemoryBytes: Int

    /// Makes a report.
    public init(
        header: PhotoHeader, sourceDigest: String, recipe: Recipe, plan: RenderPlan,
        output: RenderedFile, wallMilliseconds: Double, cpuMilliseconds: Double,
        peakMemoryBytes: Int
    ) {
        self.header = header
        self.sourceDigest = sourceDigest
        self.recipe = recipe
        self.plan = plan
        self.output = output
        self.wallMilliseconds = wallMilliseconds
        self.cpuMilliseconds = cpuMilliseconds
        self.peakMemoryBytes = peakMemoryBytes
    }
}

/// A file that a render wrote; it is not yet fsynced.
public struct RenderedFile: Sendable, Codable, Equatable {
    /// Its name in the request's folder.
    public let name: String
    /// Its IANA media type.
    public let mediaType: String
    /// Its size as a person sees it; its orientation is always 1.
    public let size: PixelSize
    /// Its length.
    public let bytes: Int
    /// SHA-256 of its bytes, in hex.
    public let digest: String

    /// Makes a file record.
    public init(name: String, mediaType: String, size: PixelSize, bytes: Int, digest: String) {
        self.name = name
        self.mediaType = mediaType
        self.size = size
        self.bytes = bytes
        self.digest = digest
    }
}
