/// The APPn segments of a JPEG within a file, up to its first scan.
///
/// Source: ITU-T T.81 §B.1.1. The walk ends at truncated data or at a limit; there are no errors.
public struct JPEGSegments: Sendable {
    /// One segment.
    public struct Segment: Sendable {
        /// 0xE0 to 0xEF.
        public let code: UInt8
        /// The offset of its content in the file.
        public let contentOffset: Int
        /// The bytes after the length.
        public let bytes: [UInt8]

        /// Returns the bytes after a signature; nil if the content does not begin with it.
        public func content(after signature: some Collection<UInt8>) -> ArraySlice<UInt8>? {
            bytes.starts(with: signature) ? bytes.dropFirst(signature.count) : nil
        }
    }

    /// The segments that were read.
    public private(set) var segments: [Segment] = []
    /// Width and height of the picture, as stored; nil if the walk ended before the frame header.
    public private(set) var size: (width: Int, height: Int)?
    /// Channels, 0 if unknown.
    public private(set) var components = 0

    /// Most segments of one picture, of any kind.
    public static let segmentsMax = 2_000
    /// Most bytes of APPn segments that are kept; an ICC profile of 16 MB exceeds this.
    public static let bytesMax = 4 << 20

    /// Reads the segments of the JPEG at an offset; nil if there is none.
    public init?(_ file: inout FileWindow, at start: Int) {
        guard file.bytes(start, 3).elementsEqual([0xFF, 0xD8, 0xFF]) else { return nil }
        var offset = start + 2
        var kept = 0
        for _ in 0..<Self.segmentsMax {
            while file.byte(offset) == 0xFF, file.byte(offset + 1) == 0xFF { offset += 1 }
            guard file.byte(offset) == 0xFF, let code = file.byte(offset + 1),
                let length = file.big(offset + 2, 2), length >= 2
            else { return }
            let content = offset + 4..<offset + 2 + length
            switch code {
            case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(code):
                guard let height = file.big(content.lowerBound + 1, 2),
                    let width = file.big(content.lowerBound + 3, 2),
                    let count = file.byte(content.lowerBound + 5)
                else { return }
                size = (width, height)
                components = count
            case 0xDA, 0xD9: return
            case 0xE0...0xEF where !file.has("ICC_PROFILE\0", at: content.lowerBound):
                kept += content.count
                guard kept <= Self.bytesMax else { return }
                let bytes = file.all(content)
                guard bytes.count == content.count else { return }
                segments.append(
                    Segment(
                        code: UInt8(truncatingIfNeeded: code), contentOffset: content.lowerBound,
                        bytes: bytes))
            default: break
            }
            offset += 2 + length
        }
    }

    /// Returns the content of the first segment of a code with a signature, without the signature.
    public func content(_ code: UInt8, after signature: some Collection<UInt8>) -> [UInt8]? {
        for segment in segments where segment.code == code {
            if let content = segment.content(after: signature) { return Array(content) }
        }
        return nil
    }

    /// XMP specification part 3 §1.1.3.
    public static let xmpSignature = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    /// EXIF 2.32 §4.7.2.
    static let exifSignature = Array("Exif\0\0".utf8)

    /// The XMP packet with its extension; nil without a packet, and without all of its extension.
    public var wholeXMP: [UInt8]? {
        guard let xmp else { return nil }
        guard ExtendedXMP.isNamed(in: xmp) else { return xmp }
        let parts = segments.filter { $0.code == 0xE1 }
            .compactMap { $0.content(after: ExtendedXMP.signature).map(Array.init) }
        return ExtendedXMP.joined(xmp, with: parts)
    }
    /// The XMP packet, without its extension.
    public var xmp: [UInt8]? { content(0xE1, after: Self.xmpSignature) }
    /// EXIF, a TIFF structure.
    public var exif: [UInt8]? { content(0xE1, after: Self.exifSignature) }
    /// The bytes of ISO 21496-1.
    public var isoGainMap: [UInt8]? { content(0xE2, after: GainMapMetadata.signature) }
}
