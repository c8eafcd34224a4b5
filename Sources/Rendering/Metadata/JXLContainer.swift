import Edits
import Files

/// Adds EXIF and XMP to a JPEG XL, as `Image.writeJXL` writes it.
///
/// Source: ISO/IEC 18181-2 §9: the signature box, `ftyp`, `jxll`, `Exif` (prefixed with the offset of its TIFF header), `xml ` and `jxlc`,
/// whose length 0 means "to the end of the file".
enum JXLContainer {
    private static let signature: [UInt8] =
        [0, 0, 0, 12] + Array("JXL ".utf8) + [13, 10, 0x87, 10]
    private static let type: [UInt8] =
        [0, 0, 0, 20] + Array("ftypjxl ".utf8) + [0, 0, 0, 0] + Array("jxl ".utf8)
    private static let codestreamMark: [UInt8] = [0xFF, 0x0A]

    /// Returns the bytes before the codestream.
    static func head(exif: [UInt8]?, xmp: [UInt8]?) -> [UInt8] {
        signature + type + boxes(exif: exif, xmp: xmp) + [0, 0, 0, 0] + Array("jxlc".utf8)
    }

    private static func boxes(exif: [UInt8]?, xmp: [UInt8]?) -> [UInt8] {
        (exif.map { box("Exif", [0, 0, 0, 0] + $0) } ?? []) + (xmp.map { box("xml ", $0) } ?? [])
    }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let length = UInt32(content.count + 8)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
            + Array(name.utf8) + content
    }

    /// Adds EXIF and XMP to a file: a bare codestream is wrapped, and a container of libjxl, which it writes where a codestream needs
    /// a higher level, such as 16 bits with alpha, gets boxes behind its head. What follows is moved up to make room, from its end
    /// on.
    ///
    /// - Throws: `ioFailure`, `noSpace`, or `internalError` if the file is neither.
    static func wrap(_ file: OpenFile, exif: [UInt8]?, xmp: [UInt8]?) throws(Failure) {
        if file.bytes(from: 0, count: 2) == codestreamMark {
            let head = head(exif: exif, xmp: xmp)
            try file.move(from: 0, by: head.count)
            try file.write(head, at: 0)
            return
        }
        guard file.bytes(from: 0, count: signature.count) == signature else {
            throw Failure(.internalError, "\(file.name) is no JPEG XL.")
        }
        let boxes = boxes(exif: exif, xmp: xmp)
        let start = endOfHead(file)
        try file.move(from: start, by: boxes.count)
        try file.write(boxes, at: start)
    }

    /// The boxes that must precede all others: the file's type, and the level of the codestream.
    private static let headTypes = ["ftyp", "jxll"].map { Array($0.utf8) }

    /// Returns the end of the boxes that must precede all others.
    private static func endOfHead(_ file: OpenFile) -> Int {
        var offset = signature.count
        while true {
            let box = file.bytes(from: offset, count: 8)
            guard box.count == 8, headTypes.contains(Array(box[4...])) else { return offset }
            let length = box[..<4].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 8 else { return offset }
            offset += length
        }
    }
}
