import Foundation
import MinilabTesting
import Testing

@testable import PhotoFiles

@Suite("The box meta of a HEIF") struct HEIFMetaTests {
    private static func infe(
        _ id: Int, _ type: String, hidden: Bool = false, _ rest: String = ""
    ) -> [UInt8] {
        Bytes.box(
            "infe",
            [2, 0, 0, hidden ? 1 : 0] + Bytes.big(id, 2) + [0, 0] + Bytes.text(type + "\0" + rest))
    }

    private static func ispe(_ width: Int, _ height: Int) -> [UInt8] {
        Bytes.box("ispe", Bytes.big(0) + Bytes.big(width) + Bytes.big(height))
    }

    /// A grid of two tiles with XMP, a gain map and what a reader may choose instead.
    private static let content: [UInt8] = {
        let items =
            infe(1, "hvc1", hidden: true) + infe(2, "hvc1", hidden: true) + infe(3, "grid")
            + infe(4, "mime", "application/rdf+xml\0") + infe(5, "hvc1") + infe(6, "tmap")
        let colour =
            Bytes.text("nclx") + Bytes.big(12, 2) + Bytes.big(13, 2) + Bytes.big(6, 2) + [0x80]
        let properties =
            ispe(512, 512) + ispe(1024, 512) + Bytes.box("irot", [3]) + Bytes.box("colr", colour)
            + Bytes.box("pixi", Bytes.big(0) + [3, 8, 8, 8])
            + Bytes.box("auxC", Bytes.big(0) + Bytes.text("urn:map\0"))
            + Bytes.box("hvcC", [1, 2, 3]) + Bytes.box("imir", [1])
        let associations: [UInt8] =
            Bytes.big(0) + Bytes.big(3) + [0, 1, 2, 1, 0x87] + [0, 3, 4, 2, 3, 4, 5] + [0, 5, 1, 6]
        let references =
            Bytes.big(0) + Bytes.box("dimg", [0, 3, 0, 2, 0, 1, 0, 2])
            + Bytes.box("auxl", [0, 5, 0, 1, 0, 3]) + Bytes.box("cdsc", [0, 4, 0, 1, 0, 3])
        let locations =
            [1, 0, 0, 0, 0x44, 0x40] + Bytes.big(2, 2)
            + [0, 1, 0, 0, 0, 0] + Bytes.big(1_000) + [0, 1] + Bytes.big(24) + Bytes.big(500)
            + [0, 3, 0, 1, 0, 0] + Bytes.big(0) + [0, 1] + Bytes.big(0) + Bytes.big(8)
        let group = Bytes.box(
            "altr", Bytes.big(0) + Bytes.big(9) + Bytes.big(2) + Bytes.big(6) + Bytes.big(3))
        return Bytes.big(0) + Bytes.box("pitm", Bytes.big(0) + [0, 3])
            + Bytes.box("iinf", Bytes.big(0) + Bytes.big(6, 2) + items)
            + Bytes.box("iloc", locations) + Bytes.box("iref", references)
            + Bytes.box("iprp", Bytes.box("ipco", properties) + Bytes.box("ipma", associations))
            + Bytes.box("idat", [0, 0, 0, 1, 4, 0, 2, 0]) + Bytes.box("grpl", group)
    }()

    @Test func `has items with types, and says which is the photo`() {
        let meta = HEIFMeta(Self.content)
        #expect(meta.isWhole)
        #expect(meta.primary == 3)
        #expect(meta.items.count == 6)
        #expect(meta.items[1]?.isHidden == true && meta.items[3]?.isHidden == false)
        #expect(meta.items[4]?.contentType == "application/rdf+xml")
        #expect(meta.items.values.filter(\.isMetadata).map(\.id) == [4])
    }

    @Test func `says where bytes are, and which items belong to which`() {
        let meta = HEIFMeta(Self.content)
        #expect(
            meta.locations[1]
                == HEIFLocation(origin: .file, extents: [.init(offset: 1_024, length: 500)]))
        #expect(meta.locations[3]?.origin == .itemData)
        #expect(Array(meta.itemData) == [0, 0, 0, 1, 4, 0, 2, 0])
        #expect(meta.items(from: 3, by: "dimg") == [1, 2])
        #expect(meta.items(to: 3, by: "auxl") == [5])
        #expect(meta.groups == [HEIFGroup(type: "altr", items: [6, 3])])
    }

    @Test func `gives items their properties in order`() {
        let meta = HEIFMeta(Self.content)
        #expect(
            meta.properties(of: 3) == [
                .size(width: 1_024, height: 512), .rotation(quarterTurns: 3),
                .codedColour(.init(primaries: 12, transfer: 13, matrix: 6, isFullRange: true)),
                .bits([8, 8, 8]),
            ])
        #expect(
            meta.properties(of: 1)
                == [.size(width: 512, height: 512), .other(type: "hvcC", content: [1, 2, 3])])
        #expect(meta.properties(of: 5) == [.auxiliary("urn:map")])
        #expect(meta.properties.last == .mirror(swapsLeftAndRight: true))
    }

    @Test func `cut off anywhere is not whole, and says no more than there is`() {
        let whole = HEIFMeta(Self.content)
        for length in 4..<Self.content.count {
            let meta = HEIFMeta(Array(Self.content.prefix(length)))
            #expect(meta.items.count <= whole.items.count)
            #expect(meta.references.count <= whole.references.count)
        }
        #expect(!HEIFMeta(Array(Self.content.dropLast())).isWhole)
    }

    @Test func `of whatever bytes costs no more than they are worth`() {
        var random = SeededGenerator()
        random.printSeed()
        for _ in 0..<3_000 {
            var bytes = Self.content
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                    [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
                    .randomElement(using: &random) ?? 0
            }
            let meta = HEIFMeta(bytes)
            let extents = meta.locations.values.reduce(0) { $0 + $1.extents.count }
            #expect(extents <= bytes.count && meta.references.count <= bytes.count)
        }
    }

    @Test func `whose locations have no bytes has one for each item, and not 65,535`() {
        let locations = [1, 0, 0, 0, 0, 0] + Bytes.big(1, 2) + [0, 1, 0, 0, 0, 0] + [0xFF, 0xFF]
        let meta = HEIFMeta(Bytes.big(0) + Bytes.box("iloc", locations))
        #expect(meta.locations.isEmpty && !meta.isWhole)
    }

    private static let corpus = ProcessInfo.processInfo.environment["MINILAB_CORPUS"]

    @Test(.enabled(if: corpus != nil, "needs MINILAB_CORPUS"))
    func `of phones' photos is read whole, and all bytes that it names are there`() throws {
        let folder = URL(filePath: try #require(Self.corpus)).appending(path: "photos/heic")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for name in names where name.lowercased().hasSuffix(".heic") {
            let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
            var file = FileWindow(bytes)
            let meta = try #require(HEIFMeta(of: &file), "\(name)")
            #expect(meta.isWhole, "\(name)")
            let primary = try #require(meta.primary)
            #expect(meta.items[primary] != nil)
            for (id, location) in meta.locations where location.origin == .file {
                let ends = location.extents.map { $0.offset + ($0.length ?? 0) }
                #expect(ends.allSatisfy { $0 <= bytes.count }, "\(name), item \(id)")
            }
        }
    }
}
