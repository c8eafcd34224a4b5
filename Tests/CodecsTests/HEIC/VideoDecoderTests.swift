import PhotoFiles
import Testing

@testable import Codecs

@Suite("Decoders of libavcodec") struct VideoDecoderTests {
    private static func still(_ name: String) throws -> (HEIFStill, [UInt8]) {
        let bytes = try HEICFixture.bytes(name)
        var file = FileWindow(bytes)
        let meta = try #require(HEIFMeta(of: &file))
        return (try HEIFStill(meta, in: &file), bytes)
    }

    private static func sum(_ frame: DecodedFrame) -> Int {
        (0..<frame.planes[0].height).reduce(0) { sum, y in
            let row = frame.planes[0].start + y * frame.planes[0].stride
            return (0..<frame.planes[0].width).reduce(sum) {
                $0 + Int(row.load(fromByteOffset: $1, as: UInt8.self))
            }
        }
    }

    @Test func `a picture is kept while others are decoded, and after its decoder`() throws {
        let (still, bytes) = try Self.still("arrow.heic")
        let units = still.picture.tiles.prefix(4).map { $0.flatMap { bytes[$0] } }
        func kept() throws -> [KeptFrame] {
            let decoder = try VideoDecoder(
                .hevc, configuration: still.picture.configuration.bytes)
            return try units.map { try decoder.decode(still: $0) }
        }
        let alone = try units.map { unit in
            let decoder = try VideoDecoder(
                .hevc, configuration: still.picture.configuration.bytes)
            return Self.sum(try decoder.decode(still: unit).frame)
        }
        #expect(try kept().map { Self.sum($0.frame) } == alone)
        #expect(Set(alone).count == alone.count)
    }

    @Test func `decode the tiles of a photo one by one`() throws {
        let (still, bytes) = try Self.still("arrow.heic")
        #expect((still.picture.columns, still.picture.rows) == (8, 6))
        let decoder = try VideoDecoder(
            .hevc, configuration: still.picture.configuration.bytes)
        for tile in still.picture.tiles.prefix(3) {
            let unit = tile.flatMap { bytes[$0] }
            let kept = try decoder.decode(still: unit)
            let frame = kept.frame
            #expect(frame.layout.width == 512 && frame.layout.height == 512)
            #expect(frame.planes.count == 3 && frame.planes[1].width == 256)
            #expect(Self.sum(frame) > 0)
        }
    }

    @Test func `refuse what is cut off, and decode the next one`() throws {
        let (still, bytes) = try Self.still("arrow.heic")
        let decoder = try VideoDecoder(
            .hevc, configuration: still.picture.configuration.bytes)
        let unit = still.picture.tiles[0].flatMap { bytes[$0] }
        for count in [1, 4, 6, 40] {
            let error = #expect(throws: CodecError.self) {
                try decoder.decode(still: Array(unit.prefix(count)))
            }
            #expect(error?.kind == .damaged)
        }
        #expect(try decoder.decode(still: unit).frame.layout.width == 512)
    }

    @Test func `refuse frames beyond the limit`() throws {
        let (still, bytes) = try Self.still("arrow.heic")
        let unit = still.picture.tiles[0].flatMap { bytes[$0] }
        #expect(throws: CodecError.self) {
            let decoder = try VideoDecoder(
                .hevc, configuration: still.picture.configuration.bytes,
                limits: .init(pixelsMax: 511 * 512))
            _ = try decoder.decode(still: unit)
        }
    }

    /// A photo in one piece beside alpha in tiles, whose decoder is opened later.
    @Test func `a decoder of small pictures does not limit one of large ones, nor an encoder`()
        throws
    {
        let (width, height, limit) = (2560, 2048, 4 << 20)
        let coding = HEICCoding(chroma: .half, bits: 8, rate: 30)
        let encoder = try TileEncoder(coding, width: width, height: height)
        let unit = try encoder.code { planes in
            for plane in planes {
                plane.start.initializeMemory(
                    as: UInt8.self, repeating: 90, count: plane.stride * plane.height)
            }
        }
        #expect(width * height > limit)
        let configuration = encoder.configuration.bytes
        let decoder = try VideoDecoder(.hevc, configuration: configuration)
        let small = try VideoDecoder(
            .hevc, configuration: configuration, limits: .init(bytesMax: limit))
        try withExtendedLifetime(small) {
            #expect(try decoder.decode(still: unit).frame.layout.width == width)
            _ = try TileEncoder(coding, width: width, height: height)
        }
    }

    @Test func `what is wrong with a picture is said in words`() {
        let reason = "tile 3 has other codes than the first one"
        #expect("\(HEICError.contradiction(reason))" == reason)
        let error = CodecError(kind: .damaged, step: "decode")
        #expect("\(HEICError.codec(error))" == "\(error)")
    }

    @Test func `refuse a configuration that is none`() {
        let error = #expect(throws: CodecError.self) {
            _ = try VideoDecoder(.hevc, configuration: [UInt8](repeating: 0xFF, count: 200))
        }
        #expect(error?.kind == .unsupported)
        #expect(error?.description.contains(VideoDecoder.version) == true)
    }
}
