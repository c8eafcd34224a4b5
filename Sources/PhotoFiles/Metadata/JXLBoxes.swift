import CBrotli
import CZlib

/// The metadata in the boxes of a JPEG XL, which libvips 8.14 does not read; a bare codestream has none.
///
/// Source: ISO/IEC 18181-2 §9: `Exif` (prefixed with the offset of its TIFF header), `xml `, and `brob`, which contains one of them
/// compressed by Brotli, as cjxl writes that of a JPEG.
public struct JXLBoxes: Sendable {
    public private(set) var exif: [UInt8]?
    public private(set) var xmp: [UInt8]?
    /// Whether there is EXIF or XMP that cannot be read: damaged, or larger than the limit.
    public private(set) var lacksExif = false
    public private(set) var lacksXMP = false

    /// Most boxes that are read. libjxl writes one codestream in up to some hundred pieces.
    private static let boxesMax = 4096

    public init(_ file: inout FileWindow) {
        guard file.has("JXL ", at: 4) else { return }
        for box in file.boxes(in: 0..<file.length, atMost: Self.boxesMax) {
            switch box.type {
            case "Exif": add("Exif", content(box.content, box.isCutOff, &file))
            case "xml ": add("xml ", content(box.content, box.isCutOff, &file))
            case "brob":
                let kind = String(
                    decoding: file.bytes(box.content.lowerBound, 4), as: UTF8.self)
                guard kind == "Exif" || kind == "xml " else { continue }
                let packed = content(box.content.dropFirst(4), box.isCutOff, &file)
                add(kind, packed.flatMap { Inflation.brotli($0[...]) })
            default: break
            }
        }
    }

    private mutating func add(_ kind: String, _ content: [UInt8]?) {
        if kind == "xml " {
            guard xmp == nil else { return }
            (xmp, lacksXMP) = (content, content == nil)
        } else {
            guard exif == nil else { return }
            exif = content.flatMap(Self.structure)
            lacksExif = exif == nil
        }
    }

    private static func structure(_ content: [UInt8]) -> [UInt8]? {
        guard content.count > 4 else { return nil }
        let start = 4 + TIFFBytes.number(content[..<4], true)
        return start < content.count ? Array(content[start...]) : nil
    }

    private func content(
        _ range: Range<Int>, _ isCutOff: Bool, _ file: inout FileWindow
    ) -> [UInt8]? {
        guard !isCutOff, !range.isEmpty, range.count <= ExtendedXMP.bytesMax else { return nil }
        return file.all(range)
    }
}

/// The decompression of metadata, at once and up to a limit.
enum Inflation {
    /// Inflates a zlib stream (RFC 1950).
    ///
    /// - Returns: nil if it is damaged, cut off, or inflates to more than `most` bytes.
    static func zlib(_ bytes: ArraySlice<UInt8>, most: Int = ExtendedXMP.bytesMax) -> [UInt8]? {
        inflated(bytes, most) { input, output in
            var length = UInt(output.count)
            let status = uncompress(
                output.baseAddress, &length, input.baseAddress, UInt(input.count))
            return status == Z_OK ? Int(length) : nil
        }
    }

    /// Decompresses a Brotli stream (RFC 7932).
    ///
    /// - Returns: nil if it is damaged, cut off, or has more than `most` bytes.
    static func brotli(_ bytes: ArraySlice<UInt8>, most: Int = ExtendedXMP.bytesMax) -> [UInt8]? {
        inflated(bytes, most) { input, output in
            var length = output.count
            let status = BrotliDecoderDecompress(
                input.count, input.baseAddress, &length, output.baseAddress)
            return status == BROTLI_DECODER_RESULT_SUCCESS ? length : nil
        }
    }

    /// Pages of the room that are not written take no memory.
    private static func inflated(
        _ bytes: ArraySlice<UInt8>, _ most: Int,
        by inflate: (UnsafeBufferPointer<UInt8>, UnsafeMutableBufferPointer<UInt8>) -> Int?
    ) -> [UInt8]? {
        guard !bytes.isEmpty else { return nil }
        var isWhole = false
        let result = [UInt8](unsafeUninitializedCapacity: most) { room, count in
            let length = bytes.withUnsafeBufferPointer { inflate($0, room) }
            (isWhole, count) = (length != nil, length ?? 0)
        }
        return isWhole ? Array(result[...]) : nil
    }
}
