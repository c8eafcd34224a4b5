import Edits
import Foundation
import MinilabTesting
@testable import Rendering
import Testing

@testable import Codecs

@Suite("Tiles of a spool") struct TileSpoolTests {
    private static let readers: [TileLayout.Reader] = [
        .rows, .columns(32, fromRight: false), .columns(32, fromRight: true),
        .columns(8, fromRight: true), .squares,
    ]

    /// Sizes that tiles fit into, and such that they do not.
    private static func layouts(seed: UInt64) -> [TileLayout] {
        var random = SeededGenerator(seed: seed)
        return readers.flatMap { reader in
            [1, 3, 4, 6, 8, 12, 128].map { pixelBytes in
                TileLayout(
                    width: .random(in: 1...150, using: &random),
                    height: .random(in: 1...20 + 400 / pixelBytes, using: &random),
                    pixelBytes: pixelBytes, for: reader)
            }
        }
    }

    private static func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        let words = (0..<(count + 7) / 8).map { _ in random.next() }
        return words.withUnsafeBytes { Array($0.prefix(count)) }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `every pixel has an offset of its own within the file`(_ seed: UInt64) {
        for layout in Self.layouts(seed: seed) {
            var used = [Bool](repeating: false, count: layout.bytes / layout.pixelBytes)
            for y in 0..<layout.height {
                var column = 0
                for part in layout.parts(of: 0..<layout.width) {
                    #expect(part.areaColumn == column)
                    let start = layout.offset(tile: part.tile, row: y) / layout.pixelBytes
                    let pixels = start + part.first..<start + part.first + part.count
                    #expect(!used[pixels].contains(true), "\(layout)")
                    for pixel in pixels { used[pixel] = true }
                    column += part.count
                }
                #expect(column == layout.width)
            }
            #expect(used.count(where: { $0 }) == layout.width * layout.height)
        }
    }

    @Test(arguments: Self.readers.dropFirst())
    func `tiles are whole pages and large enough to be written one by one`(
        _ reader: TileLayout.Reader
    ) {
        for pixelBytes in 1...16 {
            let layout = TileLayout(
                width: 1000, height: 1000, pixelBytes: pixelBytes, for: reader)
            #expect(layout.tileBytes % 4096 == 0)
            #expect(layout.tileBytes >= TileLayout.tileBytesMin)
            #expect(layout.columnBytes % layout.tileBytes == 0)
        }
    }

    @Test func `columns counted from the right begin with a tile`() {
        let layout = TileLayout(
            width: 70, height: 10, pixelBytes: 3, for: .columns(32, fromRight: true))
        for first in [70 - 32, 70 - 64] {
            #expect(layout.parts(of: first..<first + 32).count == 1)
        }
        #expect(layout.parts(of: 0..<70).map(\.count) == [6, 32, 32])
    }

    @Test func `a gigapixel takes its pixels of disk and a few megabytes of memory`() {
        let layout = TileLayout(
            width: 42_000, height: 24_000, pixelBytes: 3, for: .columns(32, fromRight: false))
        let pixels = 42_000 * 24_000 * 3
        #expect(TileSpool.bytes(of: layout) >= pixels)
        #expect(TileSpool.bytes(of: layout) < pixels * 101 / 100)
        #expect(TileSpool.memoryBytes(of: layout) < 17 << 20)
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `what is written row by row is read in any order`(_ seed: UInt64) throws {
        let studio = try Studio()
        var random = SeededGenerator(seed: seed)
        for layout in Self.layouts(seed: seed) {
            let rowBytes = layout.width * layout.pixelBytes
            let pixels = Self.bytes(rowBytes * layout.height, &random)
            let start = 4096 * Int.random(in: 0...2, using: &random)
            let file = try SpoolFile(bytes: start + layout.bytes, in: SpoolSpace(in: studio.folder))
            let writer = TileSpoolWriter(layout, to: file, at: start)
            var row = 0
            while row < layout.height {
                let count = Int.random(in: 1...min(40, layout.height - row), using: &random)
                try pixels.withUnsafeBytes { bytes in
                    guard let first = bytes.baseAddress else { return }
                    try writer.append(first + row * rowBytes, stride: rowBytes, count: count)
                }
                row += count
            }
            let spool = try writer.finish()
            for _ in 0..<6 {
                let left = Int.random(in: 0..<layout.width, using: &random)
                let top = Int.random(in: 0..<layout.height, using: &random)
                let area = PixelArea(
                    left: left, top: top,
                    width: .random(in: 1...layout.width - left, using: &random),
                    height: .random(in: 1...layout.height - top, using: &random))
                let bytes = area.width * layout.pixelBytes
                let stride = bytes + Int.random(in: 0...1, using: &random) * 16
                var read = [UInt8](repeating: 0, count: stride * area.height)
                try read.withUnsafeMutableBytes { target in
                    guard let start = target.baseAddress else { return }
                    try spool.read(area, into: start, stride: stride)
                }
                for y in 0..<area.height {
                    let from = (top + y) * rowBytes + left * layout.pixelBytes
                    #expect(
                        read[y * stride..<y * stride + bytes] == pixels[from..<from + bytes])
                }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: studio.folder).isEmpty)
    }

    @Test func `a picture from a spool is the picture, with its metadata`() throws {
        let studio = try Studio()
        let picture = try TestPicture.image(width: 157, height: 201).changing([
            .setString("png-comment-0-note", "kept"), .setInt("orientation", 3),
        ])
        let expected = try picture.pixels()
        for reader in Self.readers {
            let spooled = try picture.spooled(
                for: reader, in: SpoolSpace(in: studio.folder))
            #expect(try spooled.pixels() == expected)
            #expect(spooled.string("png-comment-0-note") == "kept")
            #expect(spooled.interpretation == picture.interpretation)
            #expect(try spooled.turned(.d90).pixels() == picture.turned(.d90).pixels())
            #expect(try FileManager.default.contentsOfDirectory(atPath: studio.folder).isEmpty)
        }
    }
}
