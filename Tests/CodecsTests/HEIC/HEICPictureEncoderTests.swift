import PhotoFiles
@testable import Codecs
import MinilabTesting
import Testing

@Suite("Pictures of a HEIC, coded") struct HEICPictureEncoderTests {
    /// Smooth colours, of 8 or 16 bits, with alpha if there are four bands.
    private static func pixels(_ width: Int, _ height: Int, bands: Int, isDeep: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let codes = [
                    40 + x * 160 / max(width, 256), 200 - y * 150 / max(height, 256),
                    60 + (x + y) * 120 / max(width + height, 512),
                    255 * x / width,
                ]
                for code in codes.prefix(bands) {
                    bytes.append(UInt8(code))
                    if isDeep { bytes.append(UInt8(code)) }
                }
            }
        }
        return bytes
    }

    private static func coded(
        _ width: Int, _ height: Int, bands: Int = 3, of samples: HEICSamples = .colour,
        _ coding: HEICCoding, hasThumbnail: Bool = false
    ) throws -> (encoder: HEICPictureEncoder, tiles: [[UInt8]]) {
        let encoder = try HEICPictureEncoder(
            width: width, height: height, bands: bands, samples, coding, colour: [],
            hasThumbnail: hasThumbnail)
        let pixels = pixels(width, height, bands: bands, isDeep: coding.bits > 8)
        let rowBytes = pixels.count / height
        let tiles = try pixels.withUnsafeBytes { bytes in
            try (0..<height).flatMap { row in
                try encoder.append(try #require(bytes.baseAddress) + row * rowBytes)
            }
        }
        return (encoder, tiles)
    }

    /// The file with this picture alone.
    private static func file(_ picture: HEIFCodedPicture, _ tiles: [[UInt8]]) throws -> [UInt8] {
        var file = HEIFFile(brands: ["heic", "mif1"])
        let added = file.add(picture)
        file.primary = added.item
        var mediaRanges: [Int: Range<Int>] = [:]
        var bytes: [UInt8] = []
        for (item, tile) in zip(added.coded, tiles) {
            let start = file.headLength + bytes.count
            mediaRanges[item] = start..<start + tile.count
            bytes += tile
        }
        return try file.head(mediaRanges: mediaRanges, length: file.headLength + bytes.count)
            + bytes
    }

    /// Rows of the picture as our reader makes them, in the machine's order.
    private static func read(_ bytes: [UInt8]) throws -> (rows: HEICRows, pixels: [UInt8]) {
        var window = FileWindow(bytes)
        let still = try HEIFStill(try #require(HEIFMeta(of: &window)), in: &window)
        let rows = try HEICRows(still, in: window)
        let rowBytes = rows.width * rows.bands * rows.bitsPerSample / 8
        var pixels = [UInt8](repeating: 0, count: rowBytes * rows.height)
        try pixels.withUnsafeMutableBytes { bytes in
            for row in 0..<rows.height {
                try rows.makeRow(into: try #require(bytes.baseAddress) + row * rowBytes)
            }
        }
        return (rows, pixels)
    }

    private static func difference(_ a: [UInt8], _ b: [UInt8]) -> Double {
        zip(a, b).reduce(0) { $0 + Double(abs(Int($1.0) - Int($1.1))) } / Double(a.count)
    }

    @Test(arguments: [
        (64, 64), (96, 64), (130, 70), (65, 63), (1, 1), (3, 200), (600, 70), (513, 515),
    ])
    func `are what was coded, whatever their size`(_ width: Int, _ height: Int) throws {
        let coding = HEICCoding(chroma: .half, bits: 8, rate: 8)
        let (encoder, tiles) = try Self.coded(width, height, coding)
        #expect(tiles.count == encoder.picture.columns * encoder.picture.rows)
        let (rows, pixels) = try Self.read(try Self.file(encoder.picture, tiles))
        #expect((rows.width, rows.height) == (width, height))
        let expected = Self.pixels(width, height, bands: 3, isDeep: false)
        #expect(Self.difference(pixels, expected) < 2.5)
    }

    @Test(arguments: [8, 10, 12], [HEICCoding.Chroma.half, .full])
    func `keep their bits and chroma`(_ bits: Int, _ chroma: HEICCoding.Chroma) throws {
        let coding = HEICCoding(chroma: chroma, bits: bits, rate: 6)
        let (encoder, tiles) = try Self.coded(96, 80, coding)
        let configuration = try #require(HEVCConfiguration(encoder.picture.configuration[...]))
        #expect(configuration.lumaBits == bits && configuration.chromaFormat == chroma.rawValue)
        let (rows, pixels) = try Self.read(try Self.file(encoder.picture, tiles))
        #expect(rows.bitsPerSample == (bits == 8 ? 8 : 16))
        let expected = Self.pixels(96, 80, bands: 3, isDeep: bits > 8)
        // Of 16 bits only the upper byte counts.
        let high = { (bytes: [UInt8]) in
            bits == 8 ? bytes : stride(from: 1, to: bytes.count, by: 2).map { bytes[$0] }
        }
        #expect(Self.difference(high(pixels), high(expected)) < 2)
    }

    @Test func `may be one band as luma`() throws {
        let coding = HEICCoding(chroma: .none, bits: 8, rate: 6)
        let (encoder, tiles) = try Self.coded(100, 64, bands: 4, of: .one(3), coding)
        #expect(encoder.picture.bits == [8])
        let (_, pixels) = try Self.read(try Self.file(encoder.picture, tiles))
        let all = Self.pixels(100, 64, bands: 4, isDeep: false)
        let expected = stride(from: 3, to: all.count, by: 4).flatMap {
            [all[$0], all[$0], all[$0]]
        }
        #expect(Self.difference(pixels, expected) < 1.5)
    }

    @Test func `have the same bytes each time, and nothing in them but the picture`() throws {
        let coding = HEICCoding(chroma: .half, bits: 8, rate: 20)
        let first = try Self.coded(2_700, 40, coding)
        let second = try Self.coded(2_700, 40, coding)
        #expect(first.tiles == second.tiles && first.tiles.count == 6)
        for tile in first.tiles {
            // One unit, a picture that refers to no other (ITU-T H.265 table 7-1: 19 and 20).
            #expect(tile.prefix(4).reduce(0) { $0 << 8 | Int($1) } == tile.count - 4)
            #expect([19, 20].contains(tile[4] >> 1 & 63))
        }
        // Main Still Picture, as phones say.
        #expect(first.encoder.picture.configuration[1] & 31 == 3)
    }

    @Test func `have a thumbnail of their mean colours`() throws {
        let coding = HEICCoding(chroma: .half, bits: 8, rate: 8)
        let (encoder, _) = try Self.coded(1_000, 700, coding, hasThumbnail: true)
        let thumbnail = try #require(encoder.thumbnail)
        #expect((thumbnail.picture.width, thumbnail.picture.height) == (416, 292))
        let bytes = try Self.file(thumbnail.picture, [try thumbnail.coded()])
        let (_, pixels) = try Self.read(bytes)
        #expect(Self.difference(pixels, Self.pixels(416, 292, bands: 3, isDeep: false)) < 2.5)
    }

    @Test(arguments: [(400, 300), (9_000, 64)])
    func `have no thumbnail when they are small, or narrow`(_ width: Int, _ height: Int) throws {
        let coding = HEICCoding(chroma: .half, bits: 8, rate: 30)
        #expect(try Self.coded(width, height, coding, hasThumbnail: true).encoder.thumbnail == nil)
    }

    @Test func `units of a stream are found between start codes of three and four bytes`() {
        let bytes: [UInt8] = [0, 0, 0, 1, 0x40, 1, 0, 0, 1, 0x42, 7, 0, 0, 0, 0, 1, 0x44, 9, 0, 0]
        let units = bytes.withUnsafeBytes { AnnexB.units(in: $0).map { Array($0) } }
        #expect(units == [[0x40, 1], [0x42, 7], [0x44, 9]])
        #expect([UInt8](repeating: 0, count: 9).withUnsafeBytes { AnnexB.units(in: $0).isEmpty })
    }
}
