extension Recipe {
    /// The output settings of a result.
    ///
    /// Settings that a format does not support are rejected when the photo's header is known, before a pixel is read.
    public struct Output: Sendable, Equatable {
        /// The format, or nil for the default: PNG and TIFF keep their format, all other photos become JPEG. A movie keeps its
        /// format, whatever the setting for photos.
        public var format: Format?
        /// Quality of a lossy format, 0 to 1, on one scale: it looks as good as a JPEG of that quality. Default 0.9, the value in
        /// PhotoKit's sample code.
        public var quality: Double
        /// The chroma sampling, or nil for the original's.
        public var chroma: Chroma?
        /// Whether a JPEG or PNG is shown coarsely while it loads.
        public var progressive: Bool
        /// The metadata to remove.
        public var strip: Strip
        /// The colour space of the result.
        public var colorSpace: ColorSpace
        /// Bits of a sample, or nil for the original's if the format supports them.
        public var bitDepth: BitDepth?
        /// The compression of a PNG or TIFF, or nil for the default: an uncompressed TIFF stays uncompressed, all others use fast
        /// compression.
        public var compression: Compression?
        /// The background under transparent parts in a format without alpha, or nil for white.
        public var background: Background?
        /// Whether a photo's gain map, which makes it HDR, is kept.
        public var hdr: HDR
        /// The settings for movies; ignored for photos.
        public var movie: Movie
        /// Longest sides of the previews, in pixels, ascending.
        public var previews: [Int]
        /// The values that are written into the metadata; nil for nothing.
        public var metadata: MetadataChanges?
        /// Whether creator and rights stay when all metadata are removed.
        public var keepsRights: Bool

        /// The quality if a recipe has none.
        public static let defaultQuality = 0.9

        public init(
            format: Format? = nil, quality: Double = defaultQuality, chroma: Chroma? = nil,
            progressive: Bool = false, strip: Strip = .none, colorSpace: ColorSpace = .source,
            bitDepth: BitDepth? = nil, compression: Compression? = nil,
            background: Background? = nil, hdr: HDR = .keep,
            movie: Movie = Movie(), previews: [Int] = [], metadata: MetadataChanges? = nil,
            keepsRights: Bool = false
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
            self.metadata = metadata
            self.keepsRights = keepsRights
        }
    }

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
        /// A QuickTime movie; only for QuickTime originals.
        case mov
        /// An MPEG-4 movie; only for MPEG-4 originals.
        case mp4

        public static let photos = allCases.filter { !$0.isMovie }

        public var isMovie: Bool { self == .mov || self == .mp4 }

        public var mediaType: String {
            switch self {
            case .mov: "video/quicktime"
            case .mp4: "video/mp4"
            default: "image/" + rawValue
            }
        }
        public var fileExtension: String {
            switch self {
            case .jpeg: "jpg"
            case .tiff: "tif"
            default: rawValue
            }
        }

        /// Returns the format of a file extension, in upper or lower case, or nil.
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
        /// Kept if format and filters allow it; otherwise dropped, and the plan and the event report it.
        case keep
        /// Dropped.
        case drop
        /// The job fails if the map would be dropped; a photo without one is rendered.
        case require
    }

    /// The chroma sampling of a lossy format.
    public enum Chroma: String, Sendable, Codable, CaseIterable {
        /// Full resolution.
        case full = "4:4:4"
        case halfColumns = "4:2:2"
        /// Half of the columns and rows.
        case half = "4:2:0"
    }

    /// The metadata to remove. The ICC profile always stays, because the colours depend on it.
    public enum Strip: String, Sendable, Codable, CaseIterable {
        /// Nothing.
        case none
        /// The location of the photo.
        case gps
        /// All of EXIF, XMP and IPTC.
        case all
    }

    /// The colour space of a result.
    public enum ColorSpace: String, Sendable, Codable, CaseIterable {
        /// The original's.
        case source
        case srgb
        /// Display P3.
        case displayP3
    }

    public enum BitDepth: Int, Sendable, Codable, CaseIterable {
        /// For all formats.
        case eight = 8
        /// For HEIC.
        case ten = 10
        /// For HEIC and AVIF.
        case twelve = 12
        /// For PNG, TIFF and JPEG XL.
        case sixteen = 16
    }

    /// The compression of a lossless format.
    public enum Compression: String, Sendable, Codable, CaseIterable {
        /// None: the largest file, and the cheapest. TIFF only.
        case uncompressed = "none"
        /// Deflate at the fastest level.
        case fast
        /// Deflate at a slow level: slightly smaller, in several times the time.
        case small
    }

    /// A colour of sRGB: red, green and blue as encoded, each 0 to 1.
    public struct Background: Sendable, Codable, Equatable {
        /// The three components.
        public let red: Double, green: Double, blue: Double

        public static let white = Background(red: 1, green: 1, blue: 1)

        public init(red: Double, green: Double, blue: Double) {
            self.red = red
            self.green = green
            self.blue = blue
        }
    }
}

extension Recipe.Output {
    /// Whether it has settings that releases before 0.5 refuse.
    package var hasMetadataSettings: Bool { metadata != nil || keepsRights }

    init(_ value: JSONValue) throws(Failure) {
        try self.init(
            JSONObjectReader(
                value, at: "edit.output",
                known: (Rendition.outputFields + ["movie", "previews"]).sorted()))
    }

    /// Reads the settings among the fields of an object.
    init(_ reader: JSONObjectReader) throws(Failure) {
        self.init(
            format: try reader.choice("format"),
            quality: try Self.quality(reader),
            chroma: try reader.choice("chroma"),
            progressive: try reader.flag("progressive"),
            strip: try reader.choice("strip") ?? .none,
            colorSpace: try reader.choice("colorSpace") ?? .source,
            bitDepth: try Self.bitDepth(reader),
            compression: try reader.choice("compression"),
            background: try reader.color("background"),
            hdr: try reader.choice("hdr") ?? .keep,
            movie: try reader.optional("movie").map(Recipe.Movie.init) ?? Recipe.Movie(),
            previews: try Self.previews(reader), metadata: try Self.metadata(reader),
            keepsRights: try reader.flag("keepRights"))
    }

    /// An object without a field changes nothing.
    private static func metadata(_ reader: JSONObjectReader) throws(Failure) -> MetadataChanges? {
        guard let value = reader.optional("metadata") else { return nil }
        let changes = try MetadataChanges(value, at: "\(reader.path).metadata")
        return changes.isEmpty ? nil : changes
    }

    private static func quality(_ reader: JSONObjectReader) throws(Failure) -> Double {
        try reader.number("quality", in: 0...1) ?? defaultQuality
    }

    private static func bitDepth(_ reader: JSONObjectReader) throws(Failure) -> Recipe.BitDepth? {
        guard let value = reader.optional("bitDepth") else { return nil }
        guard case .number(let number) = value,
            let depth = Int(exactly: number).flatMap(Recipe.BitDepth.init)
        else {
            throw Failure(
                .invalidValue,
                "\(reader.path).bitDepth is \(value.canonical); allowed: 8, 10, 12, 16.")
        }
        return depth
    }

    /// Returns the distinct sides, ascending.
    private static func previews(_ reader: JSONObjectReader) throws(Failure) -> [Int] {
        guard reader.optional("previews") != nil else { return [] }
        let values = try reader.array("previews")
        let sides = values.compactMap { value in
            if case .number(let number) = value { Int(exactly: number) } else { nil }
        }
        let range = ContractLimits.previewSideRange
        guard sides.count == values.count, sides.allSatisfy(range.contains),
            sides.count <= ContractLimits.previewsMax
        else {
            throw Failure(
                .invalidValue,
                "edit.output.previews is \(JSONValue.array(values).canonical); expected at most "
                    + "\(ContractLimits.previewsMax) longest sides in pixels, each "
                    + "\(range.lowerBound) to \(range.upperBound).")
        }
        return Set(sides).sorted()
    }

    /// The JSON: quality always, other values only if they differ from the defaults.
    var json: JSONValue {
        var fields: [String: JSONValue] = ["quality": .number(quality)]
        fields["format"] = format.map { .string($0.rawValue) }
        fields["chroma"] = chroma.map { .string($0.rawValue) }
        if progressive { fields["progressive"] = .bool(true) }
        if strip != .none { fields["strip"] = .string(strip.rawValue) }
        if colorSpace != .source { fields["colorSpace"] = .string(colorSpace.rawValue) }
        fields["bitDepth"] = bitDepth.map { .number(Double($0.rawValue)) }
        fields["compression"] = compression.map { .string($0.rawValue) }
        fields["background"] = background.map {
            .array([.number($0.red), .number($0.green), .number($0.blue)])
        }
        if hdr != .keep { fields["hdr"] = .string(hdr.rawValue) }
        if movie != Recipe.Movie() { fields["movie"] = movie.json }
        if !previews.isEmpty {
            fields["previews"] = .array(previews.map { .number(Double($0)) })
        }
        fields["metadata"] = metadata?.json
        if keepsRights { fields["keepRights"] = .bool(true) }
        return .object(fields)
    }
}

extension Recipe.Output {
    /// Whether it writes into the metadata of a photo.
    public var writesMetadata: Bool { metadata != nil || keepsRights && strip == .all }

    /// The names of the fields that are written, sorted; nil for none.
    public var writtenNames: [String]? {
        guard writesMetadata else { return nil }
        let fields =
            strip == .all
            ? keepsRights ? [.creator, .rights] : [] : metadata.map { Array($0.values.keys) } ?? []
        return fields.isEmpty ? nil : fields.map(\.rawValue).sorted()
    }
}

extension Recipe.Output {
    /// Rejects settings that a format does not have.
    ///
    /// - Parameter path: the object that has the settings.
    /// - Throws: `invalidValue`.
    public func check(for format: Recipe.Format, at path: String) throws(Failure) {
        if progressive, !format.canBeProgressive {
            throw Failure(
                .invalidValue,
                "\(path).progressive is true, but a \(format.rawValue) cannot be; jpeg and png "
                    + "can.")
        }
        func check<Value: Equatable>(
            _ field: String, _ value: Value, among allowed: [Value]
        ) throws(Failure) {
            guard !allowed.contains(value) else { return }
            throw Failure(
                .invalidValue,
                "\(path).\(field) is \(value), which we do not write in a \(format.rawValue); "
                    + "there it may be \(allowed.map { "\($0)" }.joined(separator: " or ")).")
        }
        if let bitDepth {
            try check(
                "bitDepth", bitDepth.rawValue, among: format.bitDepths.map(\.rawValue))
        }
        if let chroma {
            try check("chroma", chroma.rawValue, among: format.chromas.map(\.rawValue))
        }
        guard let compression else { return }
        guard !format.compressions.isEmpty else {
            throw Failure(
                .invalidValue,
                "\(path).compression is \(compression.rawValue), but the quality sets the size of a \(format.rawValue); "
                    + "only png and tiff have a choice of compression.")
        }
        try check(
            "compression", compression.rawValue, among: format.compressions.map(\.rawValue))
    }
}

extension Recipe.Output: Codable {
    public init(from decoder: any Decoder) throws { try self.init(JSONValue(from: decoder)) }
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
