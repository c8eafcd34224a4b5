import Adjustments
import Files

/// Wraps a bare JPEG XL codestream, as `Image.writeJXL` writes it, in a container with EXIF and XMP.
///
/// Source: ISO/IEC 18181-2 §9: the signature box, `ftyp`, `Exif` (prefixed with the offset of its TIFF header), `xml ` and `jxlc`,
/// whose length 0 means "to the end of the file".
enum JXLContainer {
    private static let signature: [UInt8] =
        [0, 0, 0, 12] + Array("JXL ".utf8) + [13, 10, 0x87, 10]
    private static let type: [UInt8] =
        [0, 0, 0, 20] + Array("ftypjxl ".utf8) + [0, 0, 0, 0] + Array("jxl ".utf8)
    private static let codestreamMark: [UInt8] = [0xFF, 0x0A]

    /// Returns the bytes before the codestream.
    static func head(exif: [UInt8]?, xmp: [UInt8]?) -> [UInt8] {
        var bytes = signature + type
        if let exif { bytes += box("Exif", [0, 0, 0, 0] + exif) }
        if let xmp { bytes += box("xml ", xmp) }
        return bytes + [0, 0, 0, 0] + Array("jxlc".utf8)
    }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let length = UInt32(content.count + 8)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
            + Array(name.utf8) + content
    }

    /// Wraps the codestream in a file: the codestream is moved up to make room, from its end on.
    ///
    /// - Throws: `ioFailure`, `noSpace`, or `internalError` if the file is not a bare codestream.
    static func wrap(_ file: OpenFile, exif: [UInt8]?, xmp: [UInt8]?) throws(Failure) {
        guard file.bytes(from: 0, count: 2) == codestreamMark else {
            throw Failure(.internalError, "\(file.name) is no bare codestream of JPEG XL.")
        }
        let head = head(exif: exif, xmp: xmp)
        try file.move(from: 0, by: head.count)
        try file.write(head, at: 0)
    }
}
