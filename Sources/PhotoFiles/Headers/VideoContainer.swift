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

    /// Whether movies in this container can be edited.
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
