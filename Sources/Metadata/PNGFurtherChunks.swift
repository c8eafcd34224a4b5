public import Boxes

/// The chunks of a PNG that libvips does not read: EXIF and XMP after the pixels, as several programs write them, and the number of
/// frames.
///
/// Source: PNG third edition §5.6: `eXIf` may be anywhere, and so may texts; §11.3.3.4 for `iTXt`, §11.3.6.1 for `acTL`.
public struct PNGFurtherChunks: Sendable {
    /// A TIFF structure.
    public private(set) var exif: [UInt8]?
    /// An XMP packet that is not compressed.
    public private(set) var xmp: [UInt8]?
    /// The frames of an animation; 1 for a picture.
    public private(set) var frames = 1

    /// Most chunks of a file that are read. A PNG of 2 gigabytes in chunks of 8 KB has 260,000.
    private static let chunksMax = 300_000
    private static let key = Array("XML:com.adobe.xmp\0".utf8)
    /// The compression flag and method, the ends of a language and of a translated key; all without content.
    private static let plain: [UInt8] = [0, 0, 0, 0]

    /// Reads the chunks of a PNG.
    public init(_ file: inout FileWindow) {
        var offset = 8
        var isAfterPixels = false
        for _ in 0..<Self.chunksMax {
            guard let length = file.big(offset, 4) else { return }
            let data = offset + 8
            if file.has("IEND", at: offset + 4) { return }
            if file.has("IDAT", at: offset + 4) {
                isAfterPixels = true
            } else if file.has("acTL", at: offset + 4) {
                frames = file.big(data, 4) ?? 1
            } else if isAfterPixels, length <= ExtendedXMP.bytesMax {
                if exif == nil, file.has("eXIf", at: offset + 4) {
                    exif = content(data..<data + length, &file)
                } else if xmp == nil, file.has("iTXt", at: offset + 4),
                    let text = content(data..<data + length, &file),
                    text.starts(with: Self.key + Self.plain)
                {
                    xmp = Array(text.dropFirst(Self.key.count + Self.plain.count))
                }
            }
            offset = data + length + 4
        }
    }

    private func content(_ range: Range<Int>, _ file: inout FileWindow) -> [UInt8]? {
        let bytes = file.all(range)
        return bytes.count == range.count && !bytes.isEmpty ? bytes : nil
    }
}
