import PhotoFiles
import Testing

@Suite("Chunks of a PNG that libvips does not read") struct PNGFurtherChunksTests {
    private func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        let length = (0..<4).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
        return length + Array(name.utf8) + bytes + [0, 0, 0, 0]
    }

    private func read(_ chunks: [[UInt8]]) -> PNGFurtherChunks {
        let bytes = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunks.flatMap(\.self)
        var window = FileWindow(length: bytes.count) { offset, count in
            Array(bytes.dropFirst(offset).prefix(count))
        }
        return PNGFurtherChunks(&window)
    }

    private let key = Array("XML:com.adobe.xmp\0".utf8)

    @Test func `are EXIF and XMP after the pixels`() {
        let found = read([
            chunk("IDAT", [1]), chunk("IDAT", [2]), chunk("eXIf", [3, 4]),
            chunk("iTXt", key + [0, 0, 0, 0] + Array("<x/>".utf8)), chunk("IEND", []),
        ])
        #expect(found.exif == [3, 4] && found.xmp == Array("<x/>".utf8) && found.frames == 1)
    }

    /// `<x/>` eight times, by zlib.
    private let packed: [UInt8] = [
        120, 156, 179, 169, 208, 183, 179, 193, 131, 1, 150, 48, 9, 9,
    ]
    private let unpacked = Array(String(repeating: "<x/>", count: 8).utf8)

    @Test func `are compressed XMP with a language, and texts, after the pixels`() {
        let found = read([
            chunk("IDAT", [1]), chunk("iTXt", key + [1, 0] + Array("en\0XMP\0".utf8) + packed),
            chunk("tEXt", Array("Title\0".utf8) + [0x4A, 0xF6]),
            chunk("zTXt", Array("Comment\0".utf8) + [0] + packed),
            chunk("zTXt", Array("Broken\0".utf8) + [0, 1, 2]), chunk("tEXt", [1, 2]),
            chunk("IEND", []),
        ])
        #expect(found.xmp == unpacked)
        #expect(found.texts.map(\.key) == ["Title", "Comment"])
        #expect(found.texts.map(\.text) == ["Jö", String(decoding: unpacked, as: UTF8.self)])
    }

    private func profile(_ kind: String, _ bytes: [UInt8], says count: Int? = nil) -> [UInt8] {
        let digits = Array("0123456789abcdef")
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return chunk(
            "tEXt",
            Array("Raw profile type \(kind)\0\n\(kind)\n       \(count ?? bytes.count)\n".utf8)
                + Array(String(text).utf8) + [0x0A])
    }

    @Test func `are profiles that ImageMagick writes as texts, wherever they are`() {
        let exif: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
        let found = read([
            profile("exif", Array("Exif\0\0".utf8) + exif), profile("xmp", Array("<x/>".utf8)),
            chunk("IDAT", [1]), profile("iptc", [0x1C, 2]), chunk("IEND", []),
        ])
        #expect(found.exif == exif && found.xmp == Array("<x/>".utf8) && found.iptc == [0x1C, 2])
        #expect(found.texts.isEmpty)
        let marked = read([
            profile("APP1", Array("http://ns.adobe.com/xap/1.0/\0<x/>".utf8)),
            profile("exif", exif, says: 9), chunk("IDAT", [1]), chunk("eXIf", [3]),
        ])
        #expect(marked.xmp == Array("<x/>".utf8), "APP1 holds EXIF or XMP")
        #expect(marked.exif == [3], "a chunk of its own precedes, and wrong lengths are no profile")
    }

    @Test func `are not those before the pixels, after the end, damaged or cut`() {
        let damaged = chunk("iTXt", key + [1, 0, 0, 0] + Array("<x/>".utf8))
        let before = read([
            chunk("eXIf", [3]), chunk("IDAT", [1]), damaged, chunk("IEND", []),
            chunk("eXIf", [4]),
        ])
        #expect(before.exif == nil && before.xmp == nil)
        let cut = read([
            chunk("IDAT", [1]), Array(chunk("eXIf", [UInt8](repeating: 1, count: 99)).prefix(40)),
        ])
        #expect(cut.exif == nil)
        #expect(read([chunk("IDAT", [1]), chunk("eXIf", [])]).exif == nil)
        #expect(read([]).exif == nil)
    }

    @Test func `and the number of frames`() {
        #expect(read([chunk("acTL", [0, 0, 0, 7, 0, 0, 0, 0]), chunk("IDAT", [1])]).frames == 7)
    }
}
