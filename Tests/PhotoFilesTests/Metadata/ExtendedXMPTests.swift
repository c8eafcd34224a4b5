import Edits
import PhotoFiles
import Testing

@Suite("XMP that is larger than a segment") struct ExtendedXMPTests {
    private static let depth = String(repeating: "QUJD", count: 40_000)

    private static func packet(_ properties: String, attributes: String = "") -> [UInt8] {
        XMP.packet(
            of: """
                <rdf:Description rdf:about='' xmlns:dc="http://purl.org/dc/elements/1.1/" \
                xmlns:GDepth="http://ns.google.com/photos/1.0/depthmap/" \(attributes)>\(properties)</rdf:Description>
                """)
    }

    private func joined(_ parts: ExtendedXMP.Parts) -> [UInt8]? {
        ExtendedXMP.joined(parts.packet, with: parts.parts.reversed())
    }

    @Test func `is split so that the largest properties leave, and joined again`() throws {
        let packet = Self.packet(
            "<dc:subject><rdf:Bag><rdf:li>holiday</rdf:li></rdf:Bag></dc:subject>",
            attributes: "GDepth:Mime='image/jpeg' GDepth:DepthImage='\(Self.depth)'")
        let parts = try #require(ExtendedXMP.split(packet))
        #expect(parts.packet.count < 60_000 && parts.parts.count == 3)
        #expect(parts.parts.allSatisfy { $0.count + ExtendedXMP.signature.count <= 65_533 })
        #expect(XMP.values("dc:subject", in: parts.packet) == ["holiday"])
        #expect(XMP.values("GDepth:DepthImage", in: parts.packet).isEmpty)
        #expect(ExtendedXMP.isNamed(in: parts.packet))
        let whole = try #require(joined(parts))
        #expect(XMP.values("GDepth:DepthImage", in: whole) == [Self.depth])
        #expect(XMP.values("GDepth:Mime", in: whole) == ["image/jpeg"])
        #expect(!ExtendedXMP.isNamed(in: whole))
    }

    @Test func `is one packet when it fits`() throws {
        let packet = Self.packet("<dc:title>x</dc:title>")
        let parts = try #require(ExtendedXMP.split(packet))
        #expect(parts.packet == packet && parts.parts.isEmpty)
    }

    /// Name spaces that are declared on the outer elements, another prefix for RDF, elements instead of attributes, padding.
    @Test func `keeps the name spaces that properties are in`() throws {
        let text = """
            <?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/' xmlns:q="http://example.com/"><r:RDF \
            xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:GDepth='http://ns.google.com/photos/1.0/depthmap/'>
            <r:Description r:about="uuid:1" q:small="1"><GDepth:Data>\(Self.depth)</GDepth:Data></r:Description></r:RDF></x:xmpmeta>
            \(String(repeating: " ", count: 3_000))<?xpacket end='w'?>
            """
        let parts = try #require(ExtendedXMP.split(Array(text.utf8)))
        #expect(parts.packet.count < 3_000)
        #expect(String(decoding: parts.packet, as: UTF8.self).contains("rdf:about='uuid:1'"))
        let whole = try #require(joined(parts))
        #expect(XMP.values("GDepth:Data", in: whole) == [Self.depth])
        #expect(XMP.values("q:small", in: whole) == ["1"])
    }

    @Test func `of many small properties is split too`() throws {
        let names = (0..<8_000).map { "<dc:p\($0)>value \($0)</dc:p\($0)>" }.joined()
        let parts = try #require(ExtendedXMP.split(Self.packet(names)))
        #expect(parts.packet.count < 60_000)
        let whole = try #require(joined(parts))
        for number in [0, 4_000, 7_999] {
            #expect(XMP.values("dc:p\(number)", in: whole) == ["value \(number)"])
        }
    }

    @Test func `without all of its parts is not joined`() throws {
        let parts = try #require(
            ExtendedXMP.split(Self.packet("<GDepth:Data>\(Self.depth)</GDepth:Data>")))
        let most = Array(parts.parts.dropLast())
        #expect(ExtendedXMP.joined(parts.packet, with: most) == nil)
        #expect(ExtendedXMP.joined(parts.packet, with: Array(parts.parts.dropFirst())) == nil)
        #expect(ExtendedXMP.joined(parts.packet, with: parts.parts + [parts.parts[0]]) == nil)
        // Parts of another extension do not count.
        let other = parts.parts.map { [UInt8](repeating: 0x41, count: 32) + $0.dropFirst(32) }
        #expect(ExtendedXMP.joined(parts.packet, with: other) == nil)
        #expect(ExtendedXMP.joined(parts.packet, with: parts.parts + other) != nil)
        var short = parts.parts
        short[0] = Array(short[0].prefix(20))
        #expect(ExtendedXMP.joined(parts.packet, with: short) == nil)
    }

    @Test func `that cannot be split is none`() {
        let long = String(repeating: "x", count: 70_000)
        #expect(ExtendedXMP.split(Array(long.utf8)) == nil)
        #expect(ExtendedXMP.split(XMP.packet(of: "<rdf:Description \(long)/>")) == nil)
        #expect(ExtendedXMP.split(Self.packet("<!-- \(long) -->")) == nil)
        let huge = String(repeating: "x", count: ExtendedXMP.bytesMax)
        #expect(ExtendedXMP.split(Self.packet("<dc:title>\(huge)</dc:title>")) == nil)
    }

    @Test func `a map of depth stays while nothing moves, and goes with a geometry`() throws {
        let packet = Self.packet("<dc:title>x</dc:title>", attributes: "GDepth:Data='QUJD'")
        let photo = PixelSize(width: 320, height: 200)
        #expect(XMP.revised(packet, to: PictureFacts(size: photo)) == packet)
        let crop = Geometry(of: photo, crop: PixelRectangle(x: 0, y: 0, width: 160, height: 100))
        let cropped = try #require(
            XMP.revised(packet, to: PictureFacts(size: crop.size, positions: .moved(crop))))
        #expect(!XMP.hasDepth(cropped) && XMP.values("dc:title", in: cropped) == ["x"])
    }
}
