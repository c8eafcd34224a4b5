import Testing

@testable import PhotoFiles

@Suite("Changes of an XMP packet") struct XMPPacketTests {
    /// Bytes of the largest packet of a JPEG.
    private static let bytesMax = 4 << 20

    private static func packet(of part: String) -> XMPPacket {
        let count = bytesMax / part.utf8.count
        return XMPPacket(Array("<a \(String(repeating: part, count: count))/>".utf8))
    }

    /// The bytes moved for each occurrence took a minute, from a file of some KB.
    private static let timeMax = Duration.seconds(15)

    @Test(arguments: [" GCamera:MicroVideo=\"\"", "<GCamera:MicroVideo/>"])
    func `a property that occurs hundreds of thousands of times goes in a moment`(part: String) {
        var packet = Self.packet(of: part)
        let time = ContinuousClock().measure { packet.remove("GCamera:MicroVideo") }
        #expect(!packet.contains("GCamera:MicroVideo") && packet.bytes.count == "<a />".count)
        #expect(time < Self.timeMax, "\(time)")
    }

    @Test func `a structure that occurs hundreds of thousands of times goes in a moment`() {
        var packet = Self.packet(of: "<mwg-rs:Regions/>")
        let time = ContinuousClock().measure { packet.edit("mwg-rs:Regions") { _, _ in [] } }
        #expect(packet.bytes.count == "<a />".count)
        #expect(time < Self.timeMax, "\(time)")
    }

    @Test func `each occurrence is changed, whatever the lengths`() {
        var packet = XMPPacket(
            Array("<a tiff:Orientation=\"6\"/><b tiff:Orientation=\"66\"/>".utf8))
        packet.replace("tiff:Orientation", by: "123")
        #expect(
            String(decoding: packet.bytes, as: UTF8.self)
                == "<a tiff:Orientation=\"123\"/><b tiff:Orientation=\"123\"/>")
    }
}
