import PhotoFiles
import Testing

@Suite("IPTC records") struct IPTCTests {
    private let records: [UInt8] = [0x1C, 2, 5, 0, 5] + Array("Title".utf8)

    /// One resource of Photoshop, with an empty name.
    private func resource(_ id: UInt16, _ content: [UInt8]) -> [UInt8] {
        Array("8BIM".utf8) + [UInt8(id >> 8), UInt8(id & 255), 0, 0, 0, 0]
            + [UInt8(content.count >> 8), UInt8(content.count & 255)] + content
            + (content.count % 2 == 0 ? [] : [0])
    }

    @Test func `records are found among a JPEG's resources and written without the others`() {
        let thumbnail = resource(0x040C, [1, 2, 3])
        let block = Array("Photoshop 3.0\0".utf8) + thumbnail + resource(0x0404, records)
        #expect(IPTC(block)?.records == records)
        #expect(
            IPTC(records: records).photoshopBlock == Array("Photoshop 3.0\0".utf8)
                + resource(0x0404, records))
    }

    @Test func `the digest is carried, also one that no longer fits`() {
        let digest = [UInt8](repeating: 7, count: 16)
        let block =
            Array("Photoshop 3.0\0".utf8) + resource(0x0404, records)
            + resource(0x040C, [1]) + resource(0x0425, digest)
        #expect(IPTC(block)?.digest == digest)
        #expect(
            IPTC(block)?.photoshopBlock == Array("Photoshop 3.0\0".utf8)
                + resource(0x0404, records) + resource(0x0425, digest))
        #expect(IPTC(records, resources: resource(0x0425, digest))?.digest == digest)
    }

    @Test func `bare records are taken as they are`() {
        #expect(IPTC(records)?.records == records)
    }

    @Test func `blocks that are cut off or hold no records give none`() {
        let block = Array("Photoshop 3.0\0".utf8) + resource(0x0404, records)
        for count in 0..<block.count - 1 {
            #expect(IPTC(Array(block.prefix(count))) == nil)
        }
        #expect(IPTC(resource(0x040C, [1])) == nil)
    }
}
