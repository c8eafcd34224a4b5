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
