import Boxes
import Metadata
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

    @Test func `are not those before the pixels, after the end, compressed or cut`() {
        let compressed = chunk("iTXt", key + [1, 0, 0, 0] + Array("<x/>".utf8))
        let before = read([
            chunk("eXIf", [3]), chunk("IDAT", [1]), compressed, chunk("IEND", []),
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
