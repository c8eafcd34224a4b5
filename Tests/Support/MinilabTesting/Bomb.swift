/// A small file that claims a huge size or count, to test a limit.
public enum Bomb: String, CaseIterable, Sendable {
    /// A PNG of 65,536 × 65,536 pixels.
    case pixels
    /// A PNG of 268 million pixels in 33 KB.
    case flatPNG
    /// An AVIF of 17,000 × 17,000 pixels in some hundred bytes.
    case flatAVIF
    /// A PNG of one row, with a side beyond its limit.
    case side
    /// A progressive JPEG of 10,000 scans.
    case scans
    /// A GIF of 20,000 frames, without its end.
    case frames
    /// A TIFF of 3,000 directories.
    case pages
    /// A TIFF of 4 GB with a profile that fills the file.
    case profileOffset
    /// A TIFF of 4 GB that consists of strip offsets.
    case stripOffsets
    /// A PNG whose ICC profile inflates to 100 MB.
    case profile
    /// A PNG whose texts inflate to 100 MB.
    case text, internationalText
    /// A JPEG of 20 MB of comments.
    case comments

    /// The key of the limit that the file exceeds.
    public var limit: String {
        switch self {
        case .pixels: "render.pixels"
        case .flatPNG, .flatAVIF: "limit.density"
        case .side: "limit.side"
        case .scans: "limit.scans"
        case .frames: "limit.frames"
        case .pages: "limit.pages"
        case .profileOffset, .profile: "limit.profile"
        case .stripOffsets, .text, .internationalText, .comments: "limit.metadata"
        }
    }

    /// The length of the file. Zeros, which occupy no disk space, follow ``bytes``.
    public var length: Int {
        switch self {
        case .profileOffset, .stripOffsets: 4 << 30
        default: bytes.count
        }
    }

    /// The start of the file.
    public var bytes: [UInt8] {
        switch self {
        case .pixels: Self.png(65_536, 65_536)
        case .flatPNG: Self.png(16_384, 16_384, bits: 1, data: Bytes.deflatedZeros(2_049 * 16_384))
        case .flatAVIF: Self.avif(17_000)
        case .side: Self.png(300_000, 1)
        case .scans: Self.jpeg(scans: 10_000)
        case .frames: Self.gif(frames: 20_000)
        case .pages: Self.tiff(next: (1..<3_000).map { 8 + 18 * $0 } + [0], tag: 254, count: 1)
        case .profileOffset: Self.tiff(next: [0], tag: 34_675, count: 0xFFFF_FFFF)
        case .stripOffsets: Self.tiff(next: [0], tag: 273, count: 0xFFFF_FFFF)
        case .profile: Self.png(9, 9, Bytes.chunk("iCCP", Bytes.text("p\0\0") + Self.zeros))
        case .text: Self.png(9, 9, Bytes.chunk("zTXt", Bytes.text("key\0\0") + Self.zeros))
        case .internationalText:
            Self.png(9, 9, Bytes.chunk("iTXt", Bytes.text("key\0\u{1}\0\0\0") + Self.zeros))
        case .comments:
            [0xFF, 0xD8]
                + (0..<320).flatMap { _ in
                    Bytes.segment(0xFE, [UInt8](repeating: 0x20, count: 65_000))
                } + Self.jpeg(scans: 1).dropFirst(2)
        }
    }

    private static let zeros = Bytes.deflatedZeros(100_000_000)

    private static func png(
        _ width: Int, _ height: Int, _ chunks: [UInt8] = [], bits: UInt8 = 8, data: [UInt8] = []
    ) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]
            + Bytes.chunk(
                "IHDR", Bytes.big(width) + Bytes.big(height) + [bits, 0, 0, 0, 0])
            + chunks + Bytes.chunk("IDAT", data) + Bytes.chunk("IEND", [])
    }

    /// Returns a JPEG whose scans each code the lowest coefficients of one luma block, with no bits set.
    private static func jpeg(scans: Int) -> [UInt8] {
        var bytes: [UInt8] = [0xFF, 0xD8]
        bytes += Bytes.segment(0xC2, [8] + Bytes.big(8, 2) + Bytes.big(8, 2) + [1, 1, 0x11, 0])
        for _ in 0..<scans { bytes += Bytes.segment(0xDA, [1, 1, 0, 0, 0, 0x10]) + [0] }
        return bytes + [0xFF, 0xD9]
    }

    private static func gif(frames: Int) -> [UInt8] {
        var bytes = Bytes.text("GIF89a") + Bytes.little(2, 2) + Bytes.little(2, 2) + [0x80, 0, 0]
        bytes += [0, 0, 0, 255, 255, 255]
        for _ in 0..<frames {
            bytes += [0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 3, 0x44, 0x34, 5, 0]
        }
        return bytes
    }

    private static func tiff(next: [Int], tag: Int, count: Int) -> [UInt8] {
        var bytes = Bytes.text("II") + [42, 0] + Bytes.little(8)
        for offset in next {
            bytes += Bytes.little(1, 2) + Bytes.little(tag, 2) + Bytes.little(4, 2)
            bytes += Bytes.little(count) + Bytes.little(64) + Bytes.little(offset)
        }
        return bytes
    }

    private static func avif(_ side: Int) -> [UInt8] {
        let size = Bytes.box("ispe", Bytes.big(0) + Bytes.big(side) + Bytes.big(side))
        let associations = Bytes.box("ipma", Bytes.big(0) + Bytes.big(1) + [0, 1, 1, 1])
        return Bytes.box("ftyp", Bytes.text("avif\0\0\0\0avifmif1"))
            + Bytes.box(
                "meta",
                Bytes.big(0) + Bytes.box("pitm", Bytes.big(0) + [0, 1])
                    + Bytes.box("iprp", Bytes.box("ipco", size) + associations))
    }
}
