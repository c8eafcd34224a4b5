import Edits
import Testing

@testable import PhotoFiles

@Suite("Paths of cut-outs") struct PhotoshopPathsTests {
    private static let place = "48.8583701, 2.2944813"

    /// A text that begins with its length, and ends at an even place.
    private func pascal(_ text: String) -> [UInt8] {
        [UInt8(text.utf8.count)] + Array(text.utf8) + (text.utf8.count % 2 == 0 ? [0] : [])
    }

    private func resource(_ id: Int, _ name: String, _ content: [UInt8]) -> [UInt8] {
        let head: [UInt8] = Array("8BIM".utf8) + [UInt8(id >> 8), UInt8(id & 255)] + pascal(name)
        let length: [UInt8] = [0, 0, UInt8(content.count >> 8), UInt8(content.count & 255)]
        return head + length + content + (content.count % 2 == 0 ? [] : [0])
    }

    private let points = [UInt8](repeating: 7, count: 52)

    /// What Photoshop writes behind the name of the clipping path.
    private func clip(_ name: String) -> [UInt8] { pascal(name) + [0, 0, 0, 0] }

    private func kept(_ block: [UInt8]) -> [UInt8]? {
        PhotoshopPaths(block)?.withoutCoordinates?.resources
    }

    @Test func `keep names without a place, byte for byte`() {
        let block =
            resource(0x07D0, "Path 1", points) + resource(0x07D1, "Horse", points)
            + resource(0x0BB7, "", clip("Horse"))
        #expect(kept(block) == block)
        #expect(PhotoshopPaths(block)?.kept(by: .none)?.resources == block)
        #expect(PhotoshopPaths(block)?.kept(by: .gps)?.resources == block)
        #expect(PhotoshopPaths(block)?.kept(by: .all) == nil)
    }

    @Test func `get another name in place of one with a place, and the clipping path stays one`() {
        let block = resource(0x07D0, "Horse", points) + resource(0x07D1, Self.place, points)
        let other = resource(0x07D0, "Horse", points) + resource(0x07D1, "Path 2", points)
        #expect(
            kept(block + resource(0x0BB7, "", clip("Horse")))
                == other + resource(0x0BB7, "", clip("Horse")))
        let named = kept(block + resource(0x0BB7, "", clip(Self.place))) ?? []
        #expect(named.starts(with: other))
        // The length of the name has changed, and with it the padding behind it.
        let last = IPTC.resources(of: named).last.map { named[$0.content] } ?? []
        #expect(last.starts(with: [6] + Array("Path 2".utf8)))
        #expect(PhotoshopPaths(block)?.kept(by: .none)?.resources == block)
    }

    @Test func `lose what is no path, and a name of none`() {
        let block = resource(0x07D0, "Path 1", points)
        #expect(kept(block + resource(0x07D1, "x", Array(Self.place.utf8))) == block)
        #expect(kept(block + resource(0x0BB7, "", clip(Self.place))) == block)
        #expect(kept(resource(0x0BB7, Self.place, clip("Path 1"))) == nil)
    }
}
