import Adjustments
import Foundation
import RenderProtocol
import Testing

@testable import Rendering
@testable import Vips

@Suite("TIFFs with a channel in each tile") struct PlanarTIFFTests {
    /// An uncompressed TIFF of RGB in tiles of 16 × 16, each plane's after the other's.
    private func file(_ codes: [UInt8], _ width: Int, _ height: Int, bits: Int) -> [UInt8] {
        let (across, down) = ((width + 15) / 16, (height + 15) / 16)
        let tileBytes = 256 * bits / 8
        var data: [UInt8] = []
        for plane in 0..<3 {
            for tile in 0..<across * down {
                for pixel in 0..<256 {
                    let x = tile % across * 16 + pixel % 16
                    let y = tile / across * 16 + pixel / 16
                    let code = x < width && y < height ? codes[(y * width + x) * 3 + plane] : 77
                    // 16 bits: the code twice, so that 255 is 65,535.
                    data += [UInt8](repeating: code, count: bits / 8)
                }
            }
        }
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let tiles = 3 * across * down
        let listsStart = 8 + data.count
        let offsets = (0..<tiles).flatMap { number(8 + $0 * tileBytes, 4) }
        let counts = (0..<tiles).flatMap { _ in number(tileBytes, 4) }
        let bitsOffset = listsStart + offsets.count + counts.count
        let start = bitsOffset + 6
        let entries = [
            (256, 4, 1, width), (257, 4, 1, height), (258, 3, 3, bitsOffset), (259, 3, 1, 1),
            (262, 3, 1, 2), (277, 3, 1, 3), (284, 3, 1, 2), (322, 4, 1, 16), (323, 4, 1, 16),
            (324, 4, tiles, listsStart), (325, 4, tiles, listsStart + offsets.count),
        ]
        return Array("II".utf8) + number(42, 2) + number(start, 4) + data + offsets + counts
            + (0..<3).flatMap { _ in number(bits, 2) } + number(entries.count, 2)
            + entries.flatMap {
                number($0.0, 2) + number($0.1, 2) + number($0.2, 4) + number($0.3, 4)
            } + number(0, 4)
    }

    @Test(arguments: [8, 16], [1, 4])
    func `it is read to the last pixel`(bits: Int, threads: Int) throws {
        let studio = try Studio()
        let (width, height) = (61, 83)
        let codes = TestPicture.codes(width: width, height: height)
        let source = try studio.write(file(codes, width, height, bits: bits), as: "in.tif")
        try TestPicture.image(width: width, height: height).writePNG(to: studio.path("plain.png"))
        let invert = try Filter("CIColorInvert")
        for filters in [[invert], [try Filter("turn"), invert]] {
            let expected = try studio.render(
                studio.path("plain.png"), filters, format: .png, stem: "expected")
            let report = try studio.render(
                source, filters, output: .init(format: .png, bitDepth: .eight), threads: threads)
            #expect(report.header.bitsPerSample == bits)
            let difference = try Picture(studio.path(report.output.name)).difference(
                from: Picture(studio.path(expected.output.name)))
            #expect(difference.max <= (bits == 8 ? 0 : 1))
        }
    }

    @Test func `one that is cut off is damaged`() throws {
        let studio = try Studio()
        var bytes = file(TestPicture.codes(width: 61, height: 83), 61, 83, bits: 8)
        // The offset of the last tile leads behind the end.
        let lists = bytes.count - (2 + 11 * 12 + 4) - 6 - 8 * 3 * 24
        let last = lists + 4 * (3 * 24 - 1)
        bytes.replaceSubrange(last..<last + 4, with: [0, 0, 0, 0x10])
        let source = try studio.write(bytes, as: "in.tif")
        let failure = #expect(throws: Failure.self) {
            try studio.render(source, [Filter("CIColorInvert")], format: .png)
        }
        #expect(failure?.code == .damagedPhoto, "\(String(describing: failure))")
    }
}
