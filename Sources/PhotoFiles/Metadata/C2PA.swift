/// Content Credentials: signed statements about the origin of a file and its bytes, which are untrue of any other.
///
/// Source: C2PA Technical Specification 2.1, appendix A ("Embedding manifests into assets"); JUMBF is ISO/IEC 19566-5.
public enum C2PA {
    static let chunkOfPNG = "caBX"
    static let chunkOfWebP = "C2PA"
    /// The type of the box in files of ISO base media.
    static let uuid: [UInt8] = [
        0xD8, 0xFE, 0xC3, 0xD6, 0x1B, 0x0E, 0x48, 0x3C, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7E, 0xC4,
        0x81,
    ]
    private static let label = Array("c2pa".utf8)
    private static let jumbf = Array("JP".utf8)
    /// Most bytes of a box in which the label is searched; it is in the description, which comes first.
    private static let headBytes = 256

    /// Returns the segments of a JPEG that have a manifest: APP11 with boxes of JPEG XT, whose number all parts of one share.
    static func segments(of jpeg: JPEGSegments) -> [JPEGSegments.Segment] {
        let boxes = jpeg.segments.filter {
            $0.code == 0xEB && $0.bytes.count > 8 && $0.bytes.starts(with: jumbf)
        }
        let numbers = Set(
            boxes.filter { $0.bytes.prefix(headBytes).contains(label) }.map {
                Array($0.bytes[2..<4])
            })
        return boxes.filter { numbers.contains(Array($0.bytes[2..<4])) }
    }

    /// Whether a box of a JPEG XL has a manifest.
    static func isBox(_ box: Box, _ file: inout FileWindow) -> Bool {
        box.type == "jumb"
            && file.bytes(box.content.lowerBound, min(headBytes, box.content.count)).contains(label)
    }

    /// Whether a box of a HEIF or a movie has a manifest.
    static func isUUID(_ box: Box, _ file: inout FileWindow) -> Bool {
        box.type == "uuid" && file.bytes(box.content.lowerBound, uuid.count).elementsEqual(uuid)
    }

    private static let chunksMax = 300_000
    private static let boxesMax = 4_096

    /// Whether a photo has a manifest. The directory of a TIFF is read by its survey.
    public static func isIn(_ file: inout FileWindow) -> Bool {
        if file.bytes(0, 2).elementsEqual([0xFF, 0xD8]) {
            return JPEGSegments(&file, at: 0).map { !segments(of: $0).isEmpty } ?? false
        }
        if file.has("PNG", at: 1) { return hasChunk(chunkOfPNG, in: &file, from: 8, isBig: true) }
        if file.has("WEBP", at: 8) {
            return hasChunk(chunkOfWebP, in: &file, from: 12, isBig: false)
        }
        guard file.has("ftyp", at: 4) || file.has("JXL ", at: 4) else { return false }
        for box in file.boxes(in: 0..<file.length, atMost: boxesMax) {
            if isUUID(box, &file) || isBox(box, &file) { return true }
        }
        return false
    }

    private static func hasChunk(
        _ name: String, in file: inout FileWindow, from start: Int, isBig: Bool
    ) -> Bool {
        var offset = start
        for _ in 0..<chunksMax {
            let length = isBig ? file.big(offset, 4) : file.little(offset + 4, 4)
            guard let length else { return false }
            let type = file.bytes(isBig ? offset + 4 : offset, 4)
            if type.elementsEqual(name.utf8) { return true }
            offset += isBig ? 12 + length : 8 + length + length % 2
        }
        return false
    }
}
