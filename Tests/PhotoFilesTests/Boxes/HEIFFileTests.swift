import MinilabTesting
import Testing

@testable import PhotoFiles

@Suite("A HEIF that is written") struct HEIFFileTests {
    private static let configuration =
        [1, 3, 0x70] + [UInt8](repeating: 0, count: 13) + [0xFD, 0xF8, 0xF8, 0, 0, 15, 0]
    private static let colour = HEIFProperty.codedColour(
        .init(primaries: 12, transfer: 13, matrix: 6, isFullRange: true))

    private static func picture(_ width: Int, _ height: Int, tile: (Int, Int)) -> HEIFCodedPicture {
        HEIFCodedPicture(
            width: width, height: height, tileWidth: tile.0, tileHeight: tile.1,
            configuration: configuration, bits: [8, 8, 8], colour: [colour])
    }

    /// The file with so many bytes for each item in `mdat`, one item behind the other.
    private static func bytes(_ file: HEIFFile, of count: Int = 10) throws -> [UInt8] {
        var mediaRanges: [Int: Range<Int>] = [:]
        var bytes: [UInt8] = []
        let start = file.headLength
        for (index, item) in file.items.enumerated() where item.content == .media {
            mediaRanges[index + 1] = start + bytes.count..<start + bytes.count + count
            bytes += [UInt8](repeating: UInt8(truncatingIfNeeded: index + 1), count: count)
        }
        return try file.head(mediaRanges: mediaRanges, length: start + bytes.count) + bytes
    }

    private static func meta(_ bytes: [UInt8]) throws -> HEIFMeta {
        var window = FileWindow(bytes)
        return try #require(HEIFMeta(of: &window))
    }

    @Test func `has a grid that our own reader takes for the photo`() throws {
        var file = HEIFFile(brands: ["heic", "mif1"])
        let added = file.add(Self.picture(1_000, 700, tile: (512, 512)))
        file.primary = added.item
        let exif = file.addExif(of: added.item)
        let xmp = file.addXMP(of: added.item)
        let bytes = try Self.bytes(file)
        let meta = try Self.meta(bytes)
        #expect(meta.isWhole)
        var window = FileWindow(bytes)
        let still = try HEIFStill(meta, in: &window)
        #expect((still.picture.width, still.picture.height) == (1_000, 700))
        #expect((still.picture.columns, still.picture.rows) == (2, 2))
        #expect(still.picture.configuration.bytes == Self.configuration)
        #expect(still.colour == .init(primaries: 12, transfer: 13, matrix: 6, isFullRange: true))
        #expect(still.pictures == 1)
        #expect(meta.items.values.filter(\.isHidden).count == 6)
        #expect(meta.items[exif]?.type == "Exif")
        #expect(meta.items[xmp]?.contentType == "application/rdf+xml")
        #expect(meta.items(to: added.item, by: "cdsc") == [exif, xmp])
        for (tile, ranges) in zip(added.coded, still.picture.tiles) {
            #expect(ranges.count == 1 && ranges[0].allSatisfy { bytes[$0] == tile })
        }
        // Where the box of pictures begins, and that it is the last one.
        let boxes = window.boxes(in: 0..<bytes.count)
        #expect(boxes.map(\.type) == ["ftyp", "meta", "mdat"] && !boxes[2].isCutOff)
        #expect(boxes[2].content.lowerBound == file.headLength)
    }

    @Test func `has one item for a picture that is its only tile`() throws {
        var file = HEIFFile(brands: ["heic"])
        let added = file.add(Self.picture(416, 312, tile: (416, 312)))
        #expect(added.coded == [added.item] && file.items.count == 1)
        let bytes = try Self.bytes(file)
        var window = FileWindow(bytes)
        let still = try HEIFStill(try Self.meta(bytes), in: &window)
        #expect(!still.picture.isGrid && still.picture.width == 416)
    }

    @Test func `has properties, references and groups as they were given`() throws {
        var file = HEIFFile(brands: ["heic", "mif1", "tmap"])
        let photo = file.add(Self.picture(512, 512, tile: (512, 512)))
        let map = file.add(
            Self.picture(256, 256, tile: (256, 256)), isHidden: true,
            properties: [.auxiliary("urn:map"), .lightLevel(most: 203, average: 64)])
        let toned = file.add(
            HEIFFile.Item(
                type: "tmap", properties: [.size(width: 512, height: 512), .bits([8, 8, 8])]))
        file.refer("auxl", from: map.item, to: [photo.item])
        file.refer("dimg", from: toned, to: [photo.item, map.item])
        file.group("altr", [toned, photo.item])
        let meta = try Self.meta(try Self.bytes(file))
        #expect(meta.isWhole)
        #expect(meta.items[map.item]?.isHidden == true)
        #expect(meta.properties(of: map.item).contains(.auxiliary("urn:map")))
        #expect(
            meta.properties(of: map.item).contains(
                .other(type: "clli", content: [0, 203, 0, 64])))
        #expect(meta.items(from: toned, by: "dimg") == [photo.item, map.item])
        #expect(meta.groups == [HEIFGroup(type: "altr", items: [toned, photo.item])])
        // Tiles, picture and map share what is the same.
        #expect(meta.properties.count { $0 == Self.colour } == 1)
    }

    @Test func `reads back each kind of property`() throws {
        let properties: [HEIFProperty] = [
            .size(width: 70_000, height: 3), .rotation(quarterTurns: 3),
            .mirror(swapsLeftAndRight: true), .bits([10, 10, 10]), Self.colour,
            .profile([1, 2, 3]), .auxiliary("urn:x"), .other(type: "free", content: [9]),
        ]
        var file = HEIFFile(brands: ["heic"])
        _ = file.add(HEIFFile.Item(type: "hvc1", properties: properties))
        let meta = try Self.meta(try Self.bytes(file))
        #expect(meta.properties(of: 1) == properties)
    }

    @Test func `has two bytes for properties when there are many`() throws {
        var file = HEIFFile(brands: ["heic"])
        for index in 1...200 {
            _ = file.add(
                HEIFFile.Item(type: "hvc1", properties: [.size(width: index, height: 1)]))
        }
        let meta = try Self.meta(try Self.bytes(file))
        #expect(meta.isWhole)
        #expect(meta.properties(of: 200) == [.size(width: 200, height: 1)])
    }

    @Test func `is refused when it is longer than its numbers`() {
        var file = HEIFFile(brands: ["heic"])
        _ = file.add(HEIFFile.Item(type: "hvc1"))
        #expect(throws: HEIFTooLarge.self) {
            try file.head(mediaRanges: [:], length: 1 << 32)
        }
        for _ in 0..<HEIFFile.itemsMax { _ = file.add(HEIFFile.Item(type: "hvc1")) }
        #expect(throws: HEIFTooLarge.self) { try file.head(mediaRanges: [:], length: 1 << 20) }
    }

    @Test func `is read back whatever it is`() throws {
        var random = SeededGenerator(seed: 46)
        for _ in 0..<200 {
            var file = HEIFFile(brands: ["heic", "mif1"])
            let tile = (Int.random(in: 1...512, using: &random), 512)
            let size = (
                Int.random(in: 1...5_000, using: &random), Int.random(in: 1...5_000, using: &random)
            )
            let columns = (size.0 + tile.0 - 1) / tile.0
            guard columns <= 256 else { continue }
            let added = file.add(Self.picture(size.0, size.1, tile: tile))
            file.primary = added.item
            let bytes = try Self.bytes(file, of: Int.random(in: 1...40, using: &random))
            let meta = try Self.meta(bytes)
            #expect(meta.isWhole)
            var window = FileWindow(bytes)
            do throws(HEIFProblem) {
                let still = try HEIFStill(meta, in: &window)
                #expect((still.picture.width, still.picture.height) == size)
                #expect(still.picture.tiles.count == added.coded.count)
            } catch {
                // Small pictures in large tiles, which we do not read.
                #expect(error.kind == .unsupported, "\(error)")
            }
        }
    }
}
