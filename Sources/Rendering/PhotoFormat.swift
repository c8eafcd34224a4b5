/// A photo format that we read, told by the first bytes of the content; the file's name says nothing.
///
/// Each has one named loader of libvips: its own guessing would reach loaders that we do not want.
/// Sources of the signatures: ITU-T T.81 B.1.1.3 (JPEG), PNG 1.2 §3.1, TIFF 6.0 §2 and BigTIFF,
/// RFC 9649 (WebP), GIF89a §17, ISO/IEC 23008-12 §10 and AV1-AVIF §6 (brands of `ftyp`).
enum PhotoFormat: String, CaseIterable, Sendable {
    case jpeg, png, heif, webp, tiff, gif

    /// Bytes of the content that ``init(sniffing:)`` wants to see.
    static let sniffedBytes = 64

    /// libvips' nickname of the loader.
    var loader: String { rawValue + "load" }

    /// Tells the format by the first bytes, or nil.
    init?(sniffing head: [UInt8]) {
        func starts(_ bytes: [UInt8], at offset: Int = 0) -> Bool {
            head.count >= offset + bytes.count
                && Array(head[offset..<offset + bytes.count]) == bytes
        }
        if starts([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if starts([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if starts([0x49, 0x49, 42, 0]) || starts([0x4D, 0x4D, 0, 42])
            || starts([0x49, 0x49, 43, 0]) || starts([0x4D, 0x4D, 0, 43])
        {
            self = .tiff
        } else if starts(Array("RIFF".utf8)), starts(Array("WEBP".utf8), at: 8) {
            self = .webp
        } else if starts(Array("GIF87a".utf8)) || starts(Array("GIF89a".utf8)) {
            self = .gif
        } else if starts(Array("ftyp".utf8), at: 4), Self.isHEIF(head) {
            self = .heif
        } else {
            return nil
        }
    }

    private static let brands = [
        "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis",
    ]

    /// Whether the major brand, or one of the compatible brands within the sniffed bytes, is ours.
    private static func isHEIF(_ head: [UInt8]) -> Bool {
        stride(from: 8, through: head.count - 4, by: 4).contains { offset in
            offset != 12
                && brands.contains(String(decoding: head[offset..<offset + 4], as: UTF8.self))
        }
    }
}
