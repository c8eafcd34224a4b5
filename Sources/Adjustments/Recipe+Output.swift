extension Recipe {
    /// How the result is written.
    ///
    /// What a format cannot do is refused when the photo's header is known, before a pixel is read.
    public struct Output: Sendable, Equatable {
        /// The format, or nil for what suits the original: PNG and TIFF stay what they are, all other photos
        /// become JPEG. A movie keeps its own, whatever is said for photos.
        public var format: Format?
        /// Quality of a lossy format, 0 to 1, the same in each: it looks as good as a JPEG of that quality. Default
        /// 0.9, as PhotoKit's sample code uses.
        public var quality: Double
        /// How much of the colour's detail is kept, or nil for as much as the original kept.
        public var chroma: Chroma?
        /// Whether a JPEG or PNG shows coarsely first while it loads.
        public var progressive: Bool
        /// What is left out of the metadata.
        public var strip: Strip
        /// What the result's numbers mean.
        public var colorSpace: ColorSpace
        /// Bits of a sample, or nil for the original's where the format has as many.
        public var bitDepth: BitDepth?
        /// How a PNG or TIFF is compressed, or nil: an uncompressed TIFF stays so, all else is fast.
        public var compression: Compression?
        /// What transparent parts are laid on in a format without alpha, or nil for white.
        public var background: Background?
        /// Whether a photo's gain map, which makes it HDR, is kept.
        public var hdr: HDR
        /// How a movie is written; photos have no use for it.
        public var movie: Movie
        /// Longest sides of the previews that come with the render, in pixels, ascending.
        public var previews: [Int]

        /// The quality when a recipe does not say.
        public static let defaultQuality = 0.9

        /// Makes output settings.
        public init(
            format: Format? = nil, quality: Double = defaultQuality, chroma: Chroma? = nil,
            progressive: Bool = false, strip: Strip = .none, colorSpace: ColorSpace = .source,
            bitDepth: BitDepth? = nil, compression: Compression? = nil,
            background: Background? = nil, hdr: HDR = .keep,
            movie: Movie = Movie(), previews: [Int] = []
        ) {
            self.format = format
            self.quality = quality
            self.chroma = chroma
            self.progressive = progressive
            self.strip = strip
            self.colorSpace = colorSpace
            self.bitDepth = bitDepth
            self.compression = compression
            self.background = background
            self.hdr = hdr
            self.movie = movie
            self.previews = previews
        }
    }

    /// A format that we write.
    public enum Format: String, Sendable, Codable, CaseIterable {
        /// JPEG, 8 bit, no alpha.
        case jpeg
        /// PNG, 8 or 16 bit, alpha kept.
        case png
        /// TIFF, 8 or 16 bit, compressed without loss (Deflate) or not, alpha kept.
        case tiff
        /// Lossy WebP, 8 bit, alpha kept.
        case webp
        /// HEIF with HEVC, 8, 10 or 12 bit, alpha kept.
        case heic
        /// HEIF with AV1, 8 or 12 bit, alpha kept.
        case avif
        /// Lossy JPEG XL, 8 or 16 bit, alpha kept.
        case jxl
        /// A QuickTime movie, of a QuickTime movie.
        case mov
        /// An MPEG-4 movie, of an MPEG-4 movie.
        case mp4

        /// The formats of photos.
        public static let photos = allCases.filter { !$0.isMovie }

        /// Whether it is of movies.
        public var isMovie: Bool { self == .mov || self == .mp4 }

        /// The IANA media type.
        public var mediaType: String {
            switch self {
            case .mov: "video/quicktime"
            case .mp4: "video/mp4"
            default: "image/" + rawValue
            }
        }
        /// The extension of files of this format.
        public var fileExtension: String {
            switch self {
            case .jpeg: "jpg"
            case .tiff: "tif"
            default: rawValue
            }
        }

        /// The format that a file's extension names, in any case, or nil.
        public init?(fileExtension: String) {
            switch fileExtension.lowercased() {
            case "jpg": self = .jpeg
            case "tif": self = .tiff
            case "m4v": self = .mp4
            case "qt": self = .mov
            case let name: self.init(rawValue: name)
            }
        }
    }

    /// Whether a photo's gain map is kept.
    public enum HDR: String, Sendable, Codable, CaseIterable {
        /// It stays where format and filters allow; else it is left out, and the plan and the event say so.
        case keep
        /// It is left out.
        case drop
        /// The job fails where it would be left out; a photo without one is rendered.
        case require
    }

    /// How much of the colour's detail a lossy format keeps.
    public enum Chroma: String, Sendable, Codable, CaseIterable {
        /// All of it.
        case full = "4:4:4"
        /// Half of the columns.
        case halfColumns = "4:2:2"
        /// Half of the columns and rows.
        case half = "4:2:0"
    }

    /// What is left out of the metadata. The ICC profile always stays: without it the colours would
    /// be others.
    public enum Strip: String, Sendable, Codable, CaseIterable {
        /// Nothing.
        case none
        /// Where the photo was taken.
        case gps
        /// All of EXIF, XMP and IPTC.
        case all
    }

    /// What the result's numbers mean.
    public enum ColorSpace: String, Sendable, Codable, CaseIterable {
        /// What the original's mean.
        case source
        /// sRGB.
        case srgb
        /// Display P3.
        case displayP3
    }

    /// Bits of a sample.
    public enum BitDepth: Int, Sendable, Codable, CaseIterable {
        /// All formats.
        case eight = 8
        /// HEIC.
        case ten = 10
        /// HEIC and AVIF.
        case twelve = 12
        /// PNG, TIFF and JPEG XL.
        case sixteen = 16
    }

    /// How a format without loss is compressed.
    public enum Compression: String, Sendable, Codable, CaseIterable {
        /// Not at all: the largest file, and the cheapest. TIFF alone.
        case uncompressed = "none"
        /// By Deflate, as fast as it goes.
        case fast
        /// By Deflate with patience: a little smaller, in several times the time.
        case small
    }

    /// A colour of sRGB: red, green and blue as encoded, each 0 to 1.
    public struct Background: Sendable, Codable, Equatable {
        /// The three components.
        public let red: Double, green: Double, blue: Double

        /// White.
        public static let white = Background(red: 1, green: 1, blue: 1)

        /// Makes a colour.
        public init(red: Double, green: Double, blue: Double) {
            self.red = red
            self.green = green
            self.blue = blue
        }
    }
}
