import Edits
import Files
import Foundation
@testable import Codecs
import RenderProtocol
import Testing

@testable import Rendering

@Suite("Lossless lane") struct LosslessLaneTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    @Test(arguments: 1...8)
    func `orientation, part and turn become one transform of the stored photo`(
        _ orientation: Int
    ) throws {
        let source = studio.path("photo.jpg")
        try PlanesLaneTests.photo(96, 64, 2, 2, at: source, orientation: orientation)
        let isTurned = orientation > 4
        let part = JPEGTransform.Part(
            left: isTurned ? 16 : 32, top: isTurned ? 32 : 16, width: 32, height: 16)
        let lane = try LosslessLane(
            PhotoFile(at: source), orientation: orientation, part: part, turn: .right)
        #expect(lane.obstacle == nil)
        #expect(lane.size == PixelSize(width: 16, height: 32))
        let result = studio.path("result.jpg")
        try lane.write(to: OpenFile(writing: result), strip: .none, spool: .none)
        // The same by libvips' pixels.
        let upright = try Picture(source).image.upright(
            from: orientation, spool: .none)
        let cut: Image = try Operation.run(
            "extract_area",
            [
                ("input", .image(upright)), ("left", .int(part.left)), ("top", .int(part.top)),
                ("width", .int(part.width)), ("height", .int(part.height)),
            ])
        let expected = try cut.inMemory().turned(.d90).pixels()
        let picture = try Picture(result)
        #expect(picture.image.int("orientation") == 1)
        let differences = zip(picture.bytes, expected).map { abs(Int($0) - Int($1)) }
        // Chroma is interpolated across the part's edge in the one and not in the other.
        #expect(differences.count(where: { $0 > 3 }) < expected.count / 50)
        #expect((differences.max() ?? 0) < 20)
    }

    @Test func `what stands in the way is told, and the size all the same`() throws {
        let source = studio.path("photo.jpg")
        try PlanesLaneTests.photo(90, 64, 2, 2, at: source)
        let lane = try LosslessLane(PhotoFile(at: source), orientation: 1, turn: .left)
        #expect(lane.obstacle == .geometry(.columnsLeftOver(10, mcuWidth: 16)))
        #expect(lane.size == PixelSize(width: 64, height: 90))
        #expect("\(try #require(lane.obstacle))".contains("10 columns at the right"))
    }

    @Test func `stripping takes all segments but the profile`() throws {
        let source = studio.path("photo.jpg")
        let profile = JPEGMarker(code: 0xE2, bytes: Array("ICC_PROFILE\0".utf8) + [1, 1, 9])
        let comment = JPEGMarker(code: 0xFE, bytes: Array("mine".utf8))
        try PlanesLaneTests.photo(
            32, 32, 2, 2, at: source, orientation: 6, markers: [comment, profile])
        let result = studio.path("result.jpg")
        for (strip, codes) in [
            (Recipe.Strip.none, [0xE0, 0xE1, 0xFE, 0xE2]), (.all, [0xE0, 0xE2]),
        ] {
            try LosslessLane(PhotoFile(at: source), orientation: 6).write(
                to: OpenFile(writing: result), strip: strip, spool: .none)
            #expect(try JPEGReader(result).header.markers.map { Int($0.code) } == codes)
        }
    }

    @Test(arguments: [20, 60, 99, 199])
    func `a copy shrunk while decoding is like one shrunk afterwards`(_ side: Int) throws {
        let source = studio.path("photo.jpg")
        try PlanesLaneTests.photo(200, 120, 2, 2, at: source, orientation: 6)
        let size = PixelSize(width: side, height: side * 120 / 200)
        let file = try PhotoFile(at: source)
        let small = try file.image(failOn: .warning, copySize: size)
        let full = try file.image(failOn: .warning)
        let later = try full.resized(width: size.width, height: size.height)
        #expect(small.width == size.width && small.height == size.height)
        #expect(small.data("exif-data") == full.data("exif-data"))
        let pairs = zip(try small.pixels(), try later.pixels())
        let squares = pairs.reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
        let rms = (Double(squares) / Double(3 * size.pixels)).squareRoot()
        #expect(rms < 2, "\(rms)")
    }
}
