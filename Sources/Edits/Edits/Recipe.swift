/// Decoded adjustment data: an ordered list of filters and the output settings.
///
/// In Minilab's own adjustment data it has the form of an edit that replaces (`jobs/edit.schema.json`).
public struct Recipe: Sendable, Equatable {
    /// The steps in order; empty if the photo is only encoded again.
    public let filters: [Filter]
    /// Size of the upright preview on which the edit was made, or nil if lengths count full-size pixels.
    public let referenceSize: PixelSize?
    public let output: Output

    /// Makes a recipe of checked filters.
    ///
    /// - Throws: `oversizedField` if there are too many.
    public init(
        filters: [Filter], referenceSize: PixelSize? = nil, output: Output = Output()
    ) throws(Failure) {
        try Self.check(filters)
        self.filters = filters
        self.referenceSize = referenceSize
        self.output = output
    }

    /// - Throws: `oversizedField` if there are too many; `invalidValue` if one cannot be a step.
    static func check(_ filters: [Filter]) throws(Failure) {
        let count = filters.reduce(0) { $0 + $1.count }
        guard count <= ContractLimits.filtersMax else {
            throw Failure(
                .oversizedField,
                "edit.filters has \(count) filters; at most \(ContractLimits.filtersMax) are allowed, "
                    + "those inside others counted.")
        }
        for (index, filter) in filters.enumerated() {
            try filter.checkIsStep(at: "edit.filters[\(index)]")
        }
    }
}

extension Recipe {
    /// Whether a filter's parameters depend on an analysis of the photo.
    public var isAutomatic: Bool { filters.contains(where: \.definition.isAutomatic) }

    /// Returns the recipe with each automatic filter replaced by the filters chosen for the photo.
    ///
    /// The adjustment data record this form: a later render needs no analysis, and has the same result even if the analysis
    /// changes.
    ///
    /// - Parameter statistics: statistics of the original photo.
    public func resolved(by statistics: PhotoStatistics) throws(Failure) -> Recipe {
        var resolved: [Filter] = []
        for filter in filters {
            if case .automatic(let resolve) = filter.definition.kernel {
                resolved += try resolve(filter, statistics)
            } else {
                resolved.append(filter)
            }
        }
        return try Recipe(filters: resolved, referenceSize: referenceSize, output: output)
    }
}

extension FilterDefinition {
    /// Whether it is replaced by filters that are chosen by statistics of the photo.
    public var isAutomatic: Bool {
        if case .automatic = kernel { true } else { false }
    }
}

extension Recipe {
    /// The digests (`"sha256:…"`) of all files that its filters name.
    public var resourceDigests: Set<String> {
        var digests: Set<String> = []
        var open = [json]
        while let value = open.popLast() {
            switch value {
            case .string(let text) where text.isDigest: digests.insert(text)
            case .array(let values): open += values
            case .object(let fields): open += fields.values
            case .string, .number, .bool, .null: continue
            }
        }
        return digests
    }
}

extension String {
    /// Whether it is a digest: `sha256:` and 64 hexadecimal digits in lower case.
    fileprivate var isDigest: Bool {
        hasPrefix("sha256:") && utf8.count == 71
            && utf8.dropFirst(7).allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}

extension Recipe {
    /// Reads the JSON that a producer sent.
    ///
    /// - Throws: the first error in it, named by its path.
    public init(json text: String) throws(Failure) {
        try self.init(JSONValue(edit: text))
    }

    /// Reads the JSON of a recorded version.
    ///
    /// - Throws: the error in it. It may be longer than an edit, up to ``ContractLimits/recipeBytesMax``.
    public init(recorded text: String) throws(Failure) {
        try Self.checkLength(text)
        try self.init(JSONValue(parsing: text, as: "recipe"))
    }

    /// Rejects a recipe that is too long to be recorded.
    ///
    /// - Throws: `oversizedField`.
    public func checkLength() throws(Failure) { try Self.checkLength(json.canonical) }

    private static func checkLength(_ text: String) throws(Failure) {
        guard text.utf8.count <= ContractLimits.recipeBytesMax else {
            throw Failure(
                .oversizedField,
                "the recipe has \(text.utf8.count) bytes with all its steps; at most "
                    + "\(ContractLimits.recipeBytesMax) are allowed. Send one that replaces it.")
        }
    }

    /// Reads the fields `filters`, `output` and `referenceSize`.
    init(_ value: JSONValue) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: "edit", known: ["filters", "output", "referenceSize", "units"])
        let steps = try Edit.Steps(reader)
        try self.init(
            filters: steps.filters, referenceSize: steps.referenceSize,
            output: try reader.optional("output").map(Output.init) ?? Output())
    }

    /// The canonical JSON, with every parameter by its full name.
    public var json: JSONValue {
        var fields: [String: JSONValue] = [
            "filters": .array(filters.map(\.json)), "output": output.json,
        ]
        fields["referenceSize"] = referenceSize?.json
        return .object(fields)
    }

    /// SHA-256 of the canonical JSON, in hex: equal for equivalent recipes.
    public var digest: String { json.digest }
}

extension Recipe: Codable {
    public init(from decoder: any Decoder) throws { try self.init(JSONValue(from: decoder)) }
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

extension Recipe.Format {
    /// Whether the format has a quality setting.
    public var isLossy: Bool { self != .png && self != .tiff }

    /// Whether transparency can be kept.
    public var hasAlpha: Bool { self != .jpeg && !isMovie }

    /// Whether it can be shown coarsely while it loads.
    public var canBeProgressive: Bool { self == .jpeg || self == .png }

    /// Bits of a sample that can be written, ascending, including ``triedBitDepths``.
    public var bitDepths: [Recipe.BitDepth] {
        switch self {
        case .jpeg, .webp: [.eight]
        case .mov, .mp4: [.eight, .ten]
        case .png, .tiff, .jxl: [.eight, .sixteen]
        case .heic, .avif: [.eight, .ten, .twelve]
        }
    }

    /// Bits of a sample that not every encoder in use writes, and no encoder tells: a worker tries them when a job first asks.
    ///
    /// libaom 3.6 aborts the process when libheif 1.15 requests 10 bits, or libheif writes an AVIF without a picture.
    public var triedBitDepths: [Recipe.BitDepth] { self == .avif ? [.ten] : [] }

    /// Bits of a sample for an original of more than 8: 10 for HEIC, because more decoders support 10 than 12.
    public var deepBitDepth: Recipe.BitDepth {
        self == .heic ? .ten : bitDepths.last ?? .eight
    }

    /// The compressions of a lossless format; empty for a lossy one.
    public var compressions: [Recipe.Compression] {
        switch self {
        case .tiff: [.uncompressed, .fast, .small]
        case .png: [.fast, .small]
        case .jpeg, .webp, .heic, .avif, .jxl, .mov, .mp4: []
        }
    }

    /// Chroma samplings that can be written, the most detailed first; libvips' encoders do not support 4:2:2.
    public var chromas: [Recipe.Chroma] {
        switch self {
        case .jpeg, .heic, .avif: [.full, .half]
        case .webp, .mov, .mp4: [.half]
        case .png, .tiff, .jxl: [.full]
        }
    }

    /// Longest side in pixels, or nil if no supported photo reaches it.
    ///
    /// `JPEG_MAX_DIMENSION` of libjpeg-turbo; 14 bits of VP8 (RFC 6386 §9.1); the limit of libvips 8.14's `heifsave`; 8K, the
    /// largest of H.264's level 6.2 (ITU-T H.264 table A-1).
    public var sideMax: Int? {
        switch self {
        case .jpeg: 65_500
        case .webp: 16_383
        case .heic, .avif: 16_384
        case .mov, .mp4: 8_192
        case .png, .tiff, .jxl: nil
        }
    }
}

extension Recipe {
    /// Steps and output as text, a line each, with the indices and parameter names of amendments.
    public var lines: [String] {
        var lines: [String] = []
        for (index, filter) in filters.enumerated() {
            lines.append("\(index)  \(filter.name)")
            lines += filter.parameterLines.map { "     \($0)" }
        }
        if filters.isEmpty { lines.append("no steps: the photo is only encoded again") }
        lines.append("output  \(output.text)")
        return lines
    }
}

extension Filter {
    /// Longest value in characters: a colour table has thousands of numbers.
    static let valueLengthMax = 160

    /// The parameters as text, with their units: `inputRadius 12 pixels`.
    public var parameterLines: [String] {
        definition.parameters.compactMap { parameter in
            parameters[parameter.name].map { value in
                let unit =
                    units == .relative && parameter.hasLengths
                    ? "of the picture" : parameter.kind.unitText
                return parameter.name + " " + value.text + (unit.isEmpty ? "" : " " + unit)
            }
        }
    }
}

extension FilterValue {
    /// The value as JSON, truncated if it is long.
    fileprivate var text: String { json.text }
}

extension JSONValue {
    /// The value as text in the form of an amendment, truncated if it is long.
    public var text: String {
        let text = canonical
        guard text.count > Filter.valueLengthMax else { return text }
        return String(text.prefix(Filter.valueLengthMax)) + "…"
    }
}

extension Recipe.Output {
    /// The differences from the defaults, as text.
    public var text: String {
        guard case .object(let fields) = json, case .object(let defaults) = Self().json else {
            return json.canonical
        }
        let own = fields.filter { defaults[$0.key] != $0.value }.sorted { $0.key < $1.key }
        return own.isEmpty
            ? "defaults" : own.map { "\($0.key) \($0.value.text)" }.joined(separator: ", ")
    }
}

extension ParameterDefinition.Kind {
    /// The unit of its numbers, unless they are plain factors.
    fileprivate var unitText: String {
        switch self {
        case .number(_, let unit): unit == .factor ? "" : unit.rawValue
        case .vector(_, let units):
            units.allSatisfy { $0 == .factor }
                ? "" : "(\(units.map(\.rawValue).joined(separator: ", ")))"
        case .color: "(red, green, blue, alpha)"
        case .focus: "(fractions of the picture)"
        case .box: "pixels"
        case .samples, .table, .choice, .flag, .resource, .filters, .generator: ""
        }
    }
}

extension Recipe {
    /// The output settings of a movie.
    public struct Movie: Sendable, Equatable {
        public var codec: Codec
        /// Quality, 0 to 1, on the scale of photos; nil for the output's quality.
        public var quality: Double?
        /// Whether its sound is omitted.
        public var mute: Bool
        /// Whether frames are stored upright, instead of being turned by the movie's matrix.
        public var bakeRotation: Bool
        /// The frame for previews, in seconds from the beginning; a time after the end selects the last frame.
        public var posterTime: Double

        public enum Codec: String, Sendable, Codable, CaseIterable {
            /// HEVC if the original has it or has more than 8 bits, otherwise H.264, which all players support.
            case source
            /// H.264, of 8 bits.
            case h264
            /// HEVC, of 8 or 10 bits.
            case hevc
        }

        public init(
            codec: Codec = .source, quality: Double? = nil, mute: Bool = false,
            bakeRotation: Bool = false, posterTime: Double = 0
        ) {
            (self.codec, self.quality, self.mute) = (codec, quality, mute)
            (self.bakeRotation, self.posterTime) = (bakeRotation, posterTime)
        }
    }
}

extension Recipe.Movie {
    /// Latest frame for previews, in seconds: no movie is longer.
    public static let posterTimeMax = 86_400.0

    init(_ value: JSONValue) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: "edit.output.movie",
            known: ["bakeRotation", "codec", "mute", "posterTime", "quality"])
        self.init(
            codec: try reader.choice("codec") ?? .source,
            quality: try Self.number("quality", 0...1, reader),
            mute: try reader.flag("mute"),
            bakeRotation: try reader.flag("bakeRotation"),
            posterTime: try Self.number("posterTime", 0...Self.posterTimeMax, reader) ?? 0)
    }

    private static func number(
        _ name: String, _ range: ClosedRange<Double>, _ reader: JSONObjectReader
    ) throws(Failure) -> Double? {
        guard let value = reader.optional(name) else { return nil }
        guard case .number(let number) = value, range.contains(number) else {
            throw Failure(
                .invalidValue,
                "edit.output.movie.\(name) is \(value.canonical); expected a number from "
                    + "\(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// The JSON, with only the values that differ from the defaults.
    var json: JSONValue {
        var fields: [String: JSONValue] = [:]
        if codec != .source { fields["codec"] = .string(codec.rawValue) }
        fields["quality"] = quality.map { .number($0) }
        if mute { fields["mute"] = .bool(true) }
        if bakeRotation { fields["bakeRotation"] = .bool(true) }
        if posterTime != 0 { fields["posterTime"] = .number(posterTime) }
        return .object(fields)
    }
}
