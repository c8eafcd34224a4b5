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
        #expect(IPTC.records(in: block) == records)
        #expect(
            IPTC.photoshopBlock(records) == Array("Photoshop 3.0\0".utf8)
                + resource(0x0404, records))
    }

    @Test func `bare records are taken as they are`() {
        #expect(IPTC.records(in: records) == records)
    }

    @Test func `blocks that are cut off or hold no records give none`() {
        let block = Array("Photoshop 3.0\0".utf8) + resource(0x0404, records)
        for count in 0..<block.count - 1 {
            #expect(IPTC.records(in: Array(block.prefix(count))) == nil)
        }
        #expect(IPTC.records(in: resource(0x040C, [1])) == nil)
    }
}
