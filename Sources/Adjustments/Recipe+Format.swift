extension Recipe.Format {
    /// Whether quality counts.
    public var isLossy: Bool { self != .png && self != .tiff }

    /// Whether transparency can be kept.
    public var hasAlpha: Bool { self != .jpeg && !isMovie }

    /// Whether it can show coarsely first.
    public var canBeProgressive: Bool { self == .jpeg || self == .png }

    /// Bits of a sample that we write, ascending.
    ///
    /// AVIF of 10 bits is left out: libaom 3.6 aborts the process for it when libheif 1.15 asks.
    public var bitDepths: [Recipe.BitDepth] {
        switch self {
        case .jpeg, .webp: [.eight]
        case .mov, .mp4: [.eight, .ten]
        case .png, .tiff, .jxl: [.eight, .sixteen]
        case .heic: [.eight, .ten, .twelve]
        case .avif: [.eight, .twelve]
        }
    }

    /// Bits of a sample for an original of more than 8: 10 for HEIC, which more decoders read than 12.
    public var deepBitDepth: Recipe.BitDepth {
        self == .heic ? .ten : bitDepths.last ?? .eight
    }

    /// How a format without loss can be compressed; none of them for one whose quality decides.
    public var compressions: [Recipe.Compression] {
        switch self {
        case .tiff: [.uncompressed, .fast, .small]
        case .png: [.fast, .small]
        case .jpeg, .webp, .heic, .avif, .jxl, .mov, .mp4: []
        }
    }

    /// Detail of colour that we write, most first; libvips' encoders know no 4:2:2.
    public var chromas: [Recipe.Chroma] {
        switch self {
        case .jpeg, .heic, .avif: [.full, .half]
        case .webp, .mov, .mp4: [.half]
        case .png, .tiff, .jxl: [.full]
        }
    }

    /// Longest side in pixels, or nil where no photo of ours reaches it.
    ///
    /// `JPEG_MAX_DIMENSION` of libjpeg-turbo; 14 bits of VP8 (RFC 6386 §9.1); what libvips 8.14
    /// allows `heifsave`; 8K, the largest of H.264's level 6.2 (ITU-T H.264 table A-1).
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
