/// The bound of a rendition's file, or the quality that it aims at.
public struct SizeTarget: Sendable, Equatable {
    /// The most bytes of the whole file, metadata included; nil for no bound. It wins over ``ssim``.
    public var bytesMax: Int?
    /// The lowest quality that the search for ``bytesMax`` may use, 0 to 1.
    public var qualityMin: Double
    /// The structural similarity to the rendition's pixels that the file has at least, by luma; nil for none.
    public var ssim: Double?
    /// The outcome if the file does not fit at ``qualityMin``.
    public var onMiss: Miss

    public enum Miss: String, Sendable, CaseIterable {
        /// The job fails as `cannotFit`.
        case fail
        /// The box is made smaller, twice at most.
        case shrink
    }

    public static let qualityMinDefault = 0.1
    /// A file of fewer bytes has hardly room for the tables of a JPEG.
    public static let bytesRange = 512...1 << 30
    /// Below it a picture is hardly recognised, and 1 is reached by no lossy file.
    public static let ssimRange = 0.5...0.999

    public init(
        bytesMax: Int? = nil, qualityMin: Double = qualityMinDefault, ssim: Double? = nil,
        onMiss: Miss = .fail
    ) {
        self.bytesMax = bytesMax
        self.qualityMin = qualityMin
        self.ssim = ssim
        self.onMiss = onMiss
    }
}

extension SizeTarget {
    /// Reads the target among the fields of a rendition; nil if it has none.
    init?(_ reader: JSONObjectReader, _ format: Recipe.Format) throws(Failure) {
        let bytesMax = try reader.integer("maxBytes", in: Self.bytesRange)
        let aim = try reader.optional("target").map { value throws(Failure) in
            try JSONObjectReader(value, at: "\(reader.path).target", known: ["ssim"])
        }
        let ssim = try aim?.number("ssim", in: Self.ssimRange)
        if let aim, ssim == nil {
            throw Failure(.missingField, "\(aim.path).ssim is missing; it is required.")
        }
        for name in ["minQuality", "onMiss"] where bytesMax == nil && reader.optional(name) != nil {
            throw Failure(
                .invalidValue,
                "\(reader.path).\(name) is set without \(reader.path).maxBytes, which it belongs to."
            )
        }
        if ssim != nil, !format.isLossy {
            throw Failure(
                .invalidValue,
                "\(reader.path).target is set for a \(format.rawValue), which has no quality; use jpeg, webp, heic, avif or jxl."
            )
        }
        let qualityMin = try reader.number("minQuality", in: 0...1)
        if let qualityMin, let quality = try reader.number("quality", in: 0...1),
            qualityMin > quality
        {
            throw Failure(
                .invalidValue,
                "\(reader.path).minQuality is \(qualityMin), which is more than \(reader.path).quality, \(quality)."
            )
        }
        let onMiss: Miss? = try reader.choice("onMiss")
        guard bytesMax != nil || ssim != nil else { return nil }
        self.init(
            bytesMax: bytesMax, qualityMin: qualityMin ?? Self.qualityMinDefault, ssim: ssim,
            onMiss: onMiss ?? .fail)
    }

    /// The fields of a rendition, except for defaults.
    var json: [String: JSONValue] {
        var fields: [String: JSONValue] = [:]
        fields["maxBytes"] = bytesMax.map { .number(Double($0)) }
        if qualityMin != Self.qualityMinDefault { fields["minQuality"] = .number(qualityMin) }
        fields["target"] = ssim.map { .object(["ssim": .number($0)]) }
        if onMiss != .fail { fields["onMiss"] = .string(onMiss.rawValue) }
        return fields
    }
}
