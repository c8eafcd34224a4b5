public import RenderProtocol

/// The recognition and the loader of each format. Each format has one named loader: libvips' own detection would reach unwanted
/// loaders. Sources of the signatures: ITU-T T.81 B.1.1.3 (JPEG), PNG 1.2 §3.1, TIFF 6.0 §2 and BigTIFF, RFC 9649 (WebP), GIF89a
/// §17, ISO/IEC 23008-12 §10 and AV1-AVIF §6 (brands of `ftyp`), ISO/IEC 18181-2 §9 (JPEG XL), DNG 1.6 §4, and for the makers' own
/// RAW formats LibRaw's `identify`.
extension PhotoFormat {
    /// Bytes of the content that ``init(sniffing:firstDirectory:)`` needs.
    public static let sniffedBytes = 64

    /// libvips' nickname of the loader; nil for RAW, which LibRaw develops, and for a movie.
    public var loader: String? { self == .raw || self == .movie ? nil : rawValue + "load" }

    /// Whether the decoder turns the picture upright itself, so that the EXIF orientation must be ignored.
    ///
    /// For HEIF, the transformative properties take precedence (ISO/IEC 23008-12 §6.5.10); for JPEG XL, the orientation in the
    /// codestream's header.
    public var isTurnedByDecoder: Bool { [.heif, .jxl, .raw].contains(self) }

    /// Recognises the format by the first bytes; nil if it is unknown.
    ///
    /// - Parameter firstDirectory: reads the first directory of a TIFF.
    public init?(sniffing head: [UInt8], firstDirectory: () -> TIFFBytes.FirstDirectory? = { nil })
    {
        func starts(_ bytes: [UInt8], at offset: Int = 0) -> Bool {
            head.count >= offset + bytes.count
                && Array(head[offset..<offset + bytes.count]) == bytes
        }
        if starts([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if starts([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if starts([0x49, 0x49, 42, 0]) || starts([0x4D, 0x4D, 0, 42]) {
            let isCR2 = starts(Array("CR".utf8), at: 8)
            self = isCR2 || firstDirectory()?.describesRAW == true ? .raw : .tiff
        } else if starts([0x49, 0x49, 43, 0]) || starts([0x4D, 0x4D, 0, 43]) {
            self = .tiff
        } else if starts(Array("RIFF".utf8)), starts(Array("WEBP".utf8), at: 8) {
            self = .webp
        } else if starts(Array("GIF87a".utf8)) || starts(Array("GIF89a".utf8)) {
            self = .gif
        } else if starts([0xFF, 0x0A]) || starts([0, 0, 0, 12] + Array("JXL ".utf8)) {
            self = .jxl
        } else if starts(Array("ftypcrx ".utf8), at: 4)
            || Self.rawMarks.contains(where: { starts($0.bytes, at: $0.offset) })
        {
            self = .raw
        } else if starts(Array("ftyp".utf8), at: 4), Self.isHEIF(head) {
            self = .heif
        } else if VideoContainer(sniffing: head)?.isEdited == true {
            self = .movie
        } else {
            return nil
        }
    }

    /// Signatures of Olympus (three kinds), Panasonic, Fujifilm, Canon before CR2, Minolta, Sigma.
    private static let rawMarks: [(bytes: [UInt8], offset: Int)] = [
        (Array("IIRO".utf8), 0), (Array("IIRS".utf8), 0), (Array("MMOR".utf8), 0),
        (Array("IIU\0".utf8), 0), (Array("FUJIFILMCCD-RAW".utf8), 0),
        (Array("HEAPCCDR".utf8), 6), (Array("\0MRM".utf8), 0), (Array("FOVb".utf8), 0),
    ]

    private static let brands = [
        "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis",
    ]

    /// Whether the major brand, or a compatible brand within the sniffed bytes, is supported.
    private static func isHEIF(_ head: [UInt8]) -> Bool {
        stride(from: 8, through: head.count - 4, by: 4).contains { offset in
            offset != 12
                && brands.contains(String(decoding: head[offset..<offset + 4], as: UTF8.self))
        }
    }
}

extension TIFFBytes.FirstDirectory {
    /// Whether the TIFF is a camera's RAW file: a DNG, or a file whose samples are a sensor's (TIFF/EP §5.1.2), have a maker's
    /// packing, or lie in sub-directories after a small preview. Scanners write a maker, too, and a picture below its preview.
    fileprivate var describesRAW: Bool {
        func isSensor(_ photometric: Int?) -> Bool { [32_803, 34_892].contains(photometric) }
        func isPacked(_ compression: Int?) -> Bool {
            [32_767, 34_713, 65_535].contains(compression)
        }
        let isPreview = (self[.newSubfileType] ?? 0) & 1 == 1 && has(.subDirectories)
        let hasPictureBelow =
            zip(below(.newSubfileType), below(.photometricInterpretation)).contains {
                ($0 ?? 0) & 1 == 0 && $1.map((0...9).contains) ?? false
            }
            && !below(.photometricInterpretation).contains(where: isSensor)
            && !below(.compression).contains(where: isPacked)
        return has(.dngVersion) || isSensor(self[.photometricInterpretation])
            || isPacked(self[.compression]) || isPreview && has(.make) && !hasPictureBelow
    }
}

/// A kind of video, recognised by content, so that the error names it instead of reporting a damaged file.
///
/// Sources of the signatures: QuickTime File Format §"Overview of QTFF" (files that begin with `moov`, `mdat`, `wide`, `free` or
/// `skip`), ISO/IEC 14496-12 §4.3 and the MP4 registration authority (brands of `ftyp`), the Multimedia Programming Interface 1.0
/// (AVI), RFC 8794 §11.2.1 (EBML: Matroska, WebM).
public enum VideoContainer: String, Sendable {
    case quickTime = "QuickTime"
    case mp4 = "MPEG-4"
    case avi = "AVI"
    case matroska = "Matroska or WebM"

    public var isEdited: Bool { self == .quickTime || self == .mp4 }

    /// Recognises a video by the first bytes of a file that is not a photo; nil if it is none of these.
    public init?(sniffing head: [UInt8]) {
        func text(at offset: Int) -> String? {
            head.count >= offset + 4
                ? String(decoding: head[offset..<offset + 4], as: UTF8.self) : nil
        }
        if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            self = .matroska
        } else if text(at: 0) == "RIFF", text(at: 8) == "AVI " {
            self = .avi
        } else if let box = text(at: 4), Self.quickTimeBoxes.contains(box) {
            self = .quickTime
        } else if text(at: 4) == "ftyp" {
            let brands = [8, 16, 20, 24, 28].compactMap { text(at: $0) }
            if brands.first == "qt  " {
                self = .quickTime
            } else if brands.contains(where: { brand in
                Self.brands.contains { brand.hasPrefix($0) }
            }) {
                self = .mp4
            } else {
                return nil
            }
        } else {
            return nil
        }
    }

    /// The first boxes of QuickTime files without `ftyp`.
    private static let quickTimeBoxes = ["moov", "mdat", "wide", "free", "skip", "pnot"]
    /// Prefixes of brands of videos: `isom`, `iso2` …, `mp41`, `mp42`, `M4V `, `avc1`, `3gp4` …, `3g2a`, DASH, Sony, Flash, and
    /// QuickTime as a compatible brand.
    private static let brands = [
        "iso", "mp4", "M4V", "avc1", "hvc1", "3gp", "3g2", "dash", "msdh", "MSNV", "XAVC", "f4v",
        "qt",
    ]
}
