import PhotoFiles
import MinilabTesting
import Testing

@Suite("Boxes of a JPEG XL") struct JXLBoxesTests {
    private func read(_ boxes: [UInt8]...) -> JXLBoxes {
        let bytes = Bytes.box("JXL ", [13, 10, 0x87, 10]) + boxes.flatMap(\.self)
        var window = FileWindow(length: bytes.count) { offset, count in
            Array(bytes.dropFirst(offset).prefix(count))
        }
        return JXLBoxes(&window)
    }

    private let structure: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
    /// The same behind an offset of 0, and `<x/>` eight times, by libbrotlienc.
    private let packedExif: [UInt8] = [
        139, 5, 128, 0, 0, 0, 0, 73, 73, 42, 0, 8, 0, 0, 0, 3,
    ]
    private let packedXMP: [UInt8] = [
        27, 31, 0, 248, 165, 95, 120, 124, 240, 4, 25, 1, 128, 157, 0,
    ]

    @Test func `hold EXIF and XMP`() {
        let found = read(
            Bytes.box("Exif", [0, 0, 0, 2, 7, 7] + structure), Bytes.box("jxlc", [0xFF, 0x0A]),
            Bytes.box("xml ", Array("<x/>".utf8)), Bytes.box("xml ", Array("<y/>".utf8)))
        #expect(found.exif == structure && found.xmp == Array("<x/>".utf8))
        #expect(!found.lacksExif && !found.lacksXMP)
    }

    @Test func `hold them compressed, as cjxl writes those of a JPEG`() {
        let found = read(
            Bytes.box("brob", Array("Exif".utf8) + packedExif),
            Bytes.box("brob", Array("xml ".utf8) + packedXMP),
            Bytes.box("brob", Array("jumb".utf8) + packedXMP))
        #expect(found.exif == structure)
        #expect(found.xmp == Array(String(repeating: "<x/>", count: 8).utf8))
    }

    @Test func `that cannot be read are told`() {
        let damaged = read(
            Bytes.box("brob", Array("Exif".utf8) + packedXMP.dropLast(3)),
            Array(Bytes.box("xml ", Array("<x/>".utf8)).dropLast()))
        #expect(damaged.exif == nil && damaged.lacksExif)
        #expect(damaged.xmp == nil && damaged.lacksXMP)
        let none = read(Bytes.box("Exif", []), Bytes.box("jxlc", [0xFF, 0x0A]))
        #expect(none.lacksExif && !none.lacksXMP)
    }
}
