import Edits
import Foundation
import PhotoFiles
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

@Suite("Videos among the photos") struct VideoTests {
    private static func head(brand: String, compatible: [String] = []) -> [UInt8] {
        let brands = Array((brand + "\0\0\0\0" + compatible.joined()).utf8)
        return [0, 0, 0, UInt8(8 + brands.count)] + Array("ftyp".utf8) + brands
            + [UInt8](repeating: 0, count: 40)
    }

    @Test(arguments: [
        "qt  ", "isom", "iso2", "iso6", "mp41", "mp42", "M4V ", "avc1", "3gp4", "3g2a", "dash",
        "MSNV",
    ])
    func `are told by their brand`(brand: String) throws {
        let head = Self.head(brand: brand)
        #expect(PhotoFormat(sniffing: head) == .movie)
        #expect(VideoContainer(sniffing: head) != nil)
        let studio = try Studio()
        let failure = #expect(throws: Failure.self) {
            _ = try studio.render(studio.write(head, as: "a.jpg"), [])
        }
        // Behind the brand there is no box.
        #expect(failure?.code == .damagedVideo)
    }

    @Test func `of a kind that is not edited are refused as such`() throws {
        let studio = try Studio()
        let avi = Array("RIFF\0\0\0\0AVI LIST".utf8)
        let failure = #expect(throws: Failure.self) {
            _ = try studio.render(studio.write(avi, as: "a.jpg"), [])
        }
        #expect(failure?.code == .unsupportedMediaType)
    }

    @Test func `are told by a compatible brand when the first one is a maker's`() {
        let head = Self.head(brand: "NDXC", compatible: ["mp42"])
        #expect(VideoContainer(sniffing: head) == .mp4)
    }

    @Test(arguments: ["moov", "mdat", "wide"])
    func `are told by the first box of QuickTime before there were brands`(box: String) {
        #expect(VideoContainer(sniffing: [0, 0, 0, 8] + Array(box.utf8)) == .quickTime)
    }

    @Test func `are told in AVI, Matroska and WebM`() {
        #expect(VideoContainer(sniffing: Array("RIFF\0\0\0\0AVI LIST".utf8)) == .avi)
        #expect(VideoContainer(sniffing: [0x1A, 0x45, 0xDF, 0xA3, 0x9F, 0x42]) == .matroska)
    }

    @Test(arguments: ["avis", "hevc", "msf1", "heic", "avif", "mif1"])
    func `sequences of pictures are photos still`(brand: String) {
        let head = Self.head(brand: brand, compatible: ["mif1", "iso8"])
        #expect(PhotoFormat(sniffing: head) == .heif)
    }

    @Test func `what is neither is still not a format`() throws {
        #expect(VideoContainer(sniffing: Self.head(brand: "jpx ")) == nil)
        #expect(VideoContainer(sniffing: Array("RIFF\0\0\0\0WAVE".utf8)) == nil)
        #expect(VideoContainer(sniffing: []) == nil)
    }
}
