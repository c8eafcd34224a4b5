import Edits
import Foundation
import Codecs
import MinilabTesting
@testable import Rendering
import RenderProtocol
import Testing

@Suite("Planes lane") struct PlanesLaneTests {
    private typealias Sampling = JPEGLayout.Sampling

    /// A JPEG whose luma is so many times finer than its chromas, of smooth colours.
    static func photo(
        _ width: Int, _ height: Int, _ horizontal: Int, _ vertical: Int, at path: String,
        orientation: Int? = nil, isProgressive: Bool = false, markers: [JPEGMarker] = []
    ) throws {
        let layout = JPEGLayout(
            width: width, height: height, colour: .ycbcr,
            sampling: [.init(horizontal, vertical), .init(1, 1), .init(1, 1)])
        let planes = JPEGPlanes(layout, mcuRows: layout.mcuRows)
        for (index, plane) in planes.planes.enumerated() {
            // In pixels of the photo, so that chroma lies where luma does.
            let across = Double(width) / Double(layout.size(of: index).width)
            let down = Double(height) / Double(layout.size(of: index).height)
            for y in 0..<plane.mcuHeight * layout.mcuRows {
                for x in 0..<plane.stride {
                    let (u, v) = ((Double(x) + 0.5) * across, (Double(y) + 0.5) * down)
                    let wave = sin(u / 23 + Double(2 * index)) + cos(v / 17 - Double(index))
                    plane.start[y * plane.stride + x] = UInt8(
                        128 + (index == 0 ? 45 : 18) * wave)
                }
            }
        }
        var all = markers
        if let orientation {
            let tag: [UInt8] = [1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0]
            let exif = Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1] + tag + [0, 0, 0, 0]
            all.insert(JPEGMarker(code: 0xE1, bytes: exif), at: 0)
        }
        let writer = try JPEGWriter(
            path, layout: layout, coding: JPEGCoding(quality: 98, isProgressive: isProgressive),
            markers: all)
        for row in 0..<layout.mcuRows { try writer.writePlanes(planes, mcuRow: row) }
        try writer.finish()
    }

    private let sepia: Filter
    private let studio: Studio

    init() throws {
        sepia = try Filter("CISepiaTone", ["intensity": 0.8])
        studio = try Studio()
    }

    @Test func `colours that no filter changes come back as they were`() throws {
        let layout = JPEGLayout(
            width: 256, height: 256, colour: .ycbcr,
            sampling: [Sampling](repeating: Sampling(1, 1), count: 3))
        let planes = JPEGPlanes(layout, mcuRows: layout.mcuRows)
        var expected: [[Int]] = []
        for position in 0..<256 * 256 {
            let codes = [16 + position % 224, 40 + position / 3 % 176, 40 + position / 500 % 176]
            expected.append(codes)
            for index in 0..<3 { planes.planes[index].start[position] = UInt8(codes[index]) }
        }
        let program = PlaneProgram(filters: [], colour: .sRGB, chain: [])
        for row in 0..<layout.mcuRows { program.run(planes, mcuRow: row, photoRow: row) }
        var compared = 0
        for (position, codes) in expected.enumerated() {
            let (y, b, r) = (Double(codes[0]), Double(codes[1]) - 128, Double(codes[2]) - 128)
            let colour = [y + 1.402 * r, y - 0.344136 * b - 0.714136 * r, y + 1.772 * b]
            // What is no colour of red, green and blue is moved to one that is.
            guard colour.allSatisfy({ (0...255).contains($0) }) else { continue }
            compared += 1
            for index in 0..<3 { #expect(planes.planes[index].start[position] == codes[index]) }
        }
        #expect(compared > 10_000)
    }

    @Test(arguments: [
        (1, 1, 1), (1, 1, 6), (2, 1, 1), (2, 1, 2), (2, 1, 3), (1, 2, 6), (2, 2, 1), (2, 2, 2),
        (2, 2, 3), (2, 2, 6),
    ])
    func `the result is what the photo's pixels become`(
        _ horizontal: Int, _ vertical: Int, _ orientation: Int
    ) throws {
        let source = studio.path("photo.jpg")
        try Self.photo(
            90, 70, horizontal, vertical, at: source, orientation: orientation)
        let report = try studio.render(source, [sepia], quality: 1)
        #expect(report.plan.lane == .planes)
        let result = try Picture(studio.path(report.output.name))
        let expected = try studio.pixels(of: source, [sepia], stem: "pixels")
        #expect(result.width == expected.width && result.height == expected.height)
        let difference = result.difference(from: expected)
        // Rounding in two colour spaces, and twice the smoothing of chroma where it is sampled.
        #expect(difference.rms < 0.9, "\(difference)")
        let header = try JPEGReader(studio.path(report.output.name)).header
        let stored = Sampling(horizontal, vertical)
        let turned = Sampling(vertical, horizontal)
        #expect(header.layout.sampling[0] == (orientation == 6 ? turned : stored))
        #expect(header.layout.chroma == report.plan.output.chroma.rawValue)
        #expect(result.image.int("orientation") ?? 1 == 1)
    }

    @Test(arguments: [(1, 1), (2, 1), (2, 2)])
    func `a vignette at the end stays in the planes`(_ horizontal: Int, _ vertical: Int) throws {
        let source = studio.path("photo.jpg")
        try Self.photo(150, 110, horizontal, vertical, at: source)
        let filters = [
            sepia,
            try Filter(
                "CIVignetteEffect", ["center": [50, 30], "radius": 60, "intensity": 0.8]),
        ]
        let report = try studio.render(source, filters, quality: 1)
        #expect(report.plan.lane == .planes)
        let result = try Picture(studio.path(report.output.name))
        let expected = try studio.pixels(of: source, filters, stem: "pixels")
        let difference = result.difference(from: expected)
        // As above, and four pixels share a gain.
        #expect(difference.rms < 1.1, "\(difference)")
    }

    @Test(arguments: ["CIColorInvert", "CIVignetteEffect"])
    func `a colour that is looked up is the colour that is computed`(_ name: String) throws {
        let layout = JPEGLayout(
            width: 128, height: 16, colour: .ycbcr,
            sampling: [Sampling(2, 2), Sampling(1, 1), Sampling(1, 1)])
        var generator = SeededGenerator()
        generator.printSeed()
        let noise = (0..<3).map { _ in
            (0..<128 * 16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        let filter = try Filter(name)
        guard case .pixel(let make) = filter.definition.kernel else { return }
        let program = PlaneProgram(
            filters: [try make(filter, FilterContext(size: PixelSize(width: 128, height: 16)))],
            colour: .sRGB, chain: [filter])
        var results: [[UInt8]] = []
        // Noise does not pay: the second time the program does without the memo.
        for _ in 0..<2 {
            let planes = JPEGPlanes(layout)
            for (plane, codes) in zip(planes.planes, noise) {
                for position in 0..<plane.stride * plane.mcuHeight {
                    plane.start[position] = codes[position]
                }
            }
            program.run(planes, mcuRow: 0, photoRow: 0)
            results.append(
                planes.planes.flatMap {
                    UnsafeBufferPointer(start: $0.start, count: $0.stride * $0.mcuHeight)
                })
        }
        #expect(results[0] == results[1])
        #expect(results[0] != noise.flatMap { $0 })
    }

    @Test func `segments go over, except those that would not be true any more`() throws {
        let profile = Array(
            try Data(contentsOf: URL(filePath: Studio.fixture("DisplayP3-v4.icc"))))
        let half = profile.count / 2
        let signature = Array("ICC_PROFILE\0".utf8)
        let kept = [
            JPEGMarker(code: 0xE2, bytes: signature + [1, 2] + profile[..<half]),
            JPEGMarker(code: 0xE2, bytes: signature + [2, 2] + profile[half...]),
            JPEGMarker(code: 0xFE, bytes: Array("made by hand".utf8)),
        ]
        let gone = [
            JPEGMarker(code: 0xE2, bytes: Array("MPF\0MM".utf8)),
            JPEGMarker(code: 0xE0, bytes: Array("JFXX\0".utf8) + [0x10]),
        ]
        let source = studio.path("photo.jpg")
        try Self.photo(48, 32, 2, 2, at: source, orientation: 3, markers: gone + kept)
        let report = try studio.render(source, [sepia])
        #expect(report.plan.lane == .planes)
        let markers = try JPEGReader(studio.path(report.output.name)).header.markers
        // JFIF's, EXIF's with another orientation, and what was kept.
        #expect(markers.map(\.code) == [0xE0, 0xE1, 0xE2, 0xE2, 0xFE])
        #expect(Array(markers.suffix(3)) == kept)
        #expect(markers.profile == .whole(profile))
        let picture = try Picture(studio.path(report.output.name))
        #expect(picture.image.int("orientation") == 1)
    }

    @Test(arguments: [
        (91, 70, 6, RenderPlan.Lane.planes), (90, 71, 6, .spool), (91, 70, 2, .stream),
        (91, 71, 1, .planes), (91, 71, 5, .planes),
    ])
    func `a turn that would part chroma from its pixels goes another way`(
        _ width: Int, _ height: Int, _ orientation: Int, _ lane: RenderPlan.Lane
    ) throws {
        let source = studio.path("photo.jpg")
        try Self.photo(width, height, 2, 2, at: source, orientation: orientation)
        let report = try studio.render(source, [sepia])
        #expect(report.plan.lane == lane)
        let picture = try Picture(studio.path(report.output.name))
        #expect(picture.width == report.header.uprightSize.width)
        let expected = try studio.pixels(of: source, [sepia], stem: "pixels")
        #expect(picture.difference(from: expected).rms < 2.5)
    }

    @Test func `a progressive photo streams too, and one that is cut off is damaged`() throws {
        let source = studio.path("photo.jpg")
        try Self.photo(90, 70, 2, 2, at: source, isProgressive: true)
        #expect(try studio.render(source, [sepia]).plan.lane == .planes)
        for isProgressive in [false, true] {
            try Self.photo(300, 200, 2, 2, at: source, isProgressive: isProgressive)
            let bytes = try Data(contentsOf: URL(filePath: source))
            try bytes.prefix(bytes.count * 3 / 4).write(to: URL(filePath: source))
            #expect {
                try studio.render(source, [sepia])
            } throws: {
                ($0 as? Failure)?.code == .damagedPhoto
            }
        }
    }

    @Test func `4.2.2 on its side would become 4.4.0, which no recipe asks for`() throws {
        let source = studio.path("photo.jpg")
        try Self.photo(96, 64, 2, 1, at: source)
        #expect(PlanesLane(try PhotoFile(at: source))?.chroma(.half) == .halfColumns)
        #expect(PlanesLane(try PhotoFile(at: source))?.chroma(.right) == nil)
        try Self.photo(96, 64, 2, 1, at: source, orientation: 6)
        let report = try studio.render(source, [sepia])
        #expect(report.plan.lane == .spool)
        // The only other way that loses nothing.
        #expect(try JPEGReader(studio.path(report.output.name)).header.layout.chroma == "4:4:4")
    }

    @Test func `a profile in tables, and one of which a part is missing, go another way`() throws {
        let source = studio.path("photo.jpg")
        let tables = [UInt8](repeating: 0, count: 200)
        let signature = Array("ICC_PROFILE\0".utf8)
        for bytes in [signature + [1, 1] + tables, signature + [1, 2] + tables] {
            try Self.photo(
                48, 32, 2, 2, at: source, markers: [JPEGMarker(code: 0xE2, bytes: bytes)])
            #expect(PlanesLane(try PhotoFile(at: source)) == nil)
        }
    }
}
