import Adjustments
import RenderProtocol
import Testing
import Vips

@testable import Rendering

@Suite("Filters") struct FilterVectorTests {
    private static let inputs: [[UInt8]] = [
        [255, 255, 255], [128, 128, 128], [255, 0, 0], [0, 255, 0], [0, 0, 255], [200, 100, 50],
        [64, 128, 192], [30, 30, 60], [0, 0, 0],
    ]

    struct Vector: Sendable, CustomTestStringConvertible {
        let filter: String
        let intensity: Double?
        let outputs: [[Int]]
        var testDescription: String { "\(filter) \(intensity.map { "\($0)" } ?? "")" }
    }

    static let vectors = [
        Vector(
            filter: "CISepiaTone", intensity: 0.8,
            outputs: [
                [255, 255, 255], [144, 121, 80], [176, 107, 53], [205, 225, 171], [88, 59, 125],
                [160, 116, 59], [133, 118, 104], [49, 27, 24], [0, 0, 0],
            ]),
        Vector(
            filter: "CISepiaTone", intensity: 1,
            outputs: [
                [255, 255, 255], [147, 119, 61], [147, 118, 60], [227, 217, 189], [98, 67, 16],
                [147, 119, 61], [144, 116, 57], [53, 26, 1], [0, 0, 0],
            ]),
        Vector(
            filter: "CIColorInvert", intensity: nil,
            outputs: [
                [0, 0, 0], [229, 229, 229], [0, 255, 255], [255, 0, 255], [255, 255, 0],
                [174, 240, 251], [249, 229, 183], [254, 254, 250], [255, 255, 255],
            ]),
    ]

    @Test(arguments: vectors)
    func `the test vectors of the reference come out within one code`(_ vector: Vector) throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        try Image.fromPixels(
            Self.inputs.flatMap { $0 }, width: Self.inputs.count, height: 1, bands: 3
        ).writePNG(to: source)
        let filter = try Filter(
            vector.filter, vector.intensity.map { ["inputIntensity": .number($0)] } ?? [:])
        let picture = try studio.pixels(of: source, [filter])
        for (x, expected) in vector.outputs.enumerated() {
            for (a, b) in zip(picture.pixel(x, 0), expected) {
                #expect(abs(a - b) <= 1, "pixel \(x): \(picture.pixel(x, 0)), not \(expected)")
            }
        }
    }

    @Test func `every colour of a dense grid is within one code of a Double reference`() throws {
        let studio = try Studio()
        let levels = stride(from: 0, through: 255, by: 15).map { UInt8($0) }
        var codes: [UInt8] = []
        for r in levels { for g in levels { for b in levels { codes += [r, g, b] } } }
        let source = studio.path("in.png")
        try Image.fromPixels(codes, width: codes.count / 3, height: 1, bands: 3).writePNG(
            to: source)
        let picture = try studio.pixels(of: source, [Filter("CISepiaTone", ["intensity": 0.8])])
        var worst = 0
        for x in 0..<codes.count / 3 {
            let expected = Reference.sepia(codes[3 * x..<3 * x + 3].map { Int($0) }, 0.8)
            for (a, b) in zip(picture.pixel(x, 0), expected) { worst = max(worst, abs(a - b)) }
        }
        #expect(worst <= 1)
    }

    @Test func `mono keeps black and white, is grey, and darkens green more than red`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        try Image.fromPixels(
            Self.inputs.flatMap { $0 }, width: Self.inputs.count, height: 1, bands: 3
        ).writePNG(to: source)
        let picture = try studio.pixels(of: source, [Filter("CIPhotoEffectMono")])
        #expect(picture.pixel(0, 0) == [255, 255, 255])
        #expect(picture.pixel(8, 0) == [0, 0, 0])
        for x in 0..<Self.inputs.count { #expect(Set(picture.pixel(x, 0)).count == 1) }
        #expect(picture.pixel(2, 0)[0] > picture.pixel(3, 0)[0])
    }

    @Test func `edges are black where nothing changes and bright at a step`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        var codes: [UInt8] = []
        for _ in 0..<8 { for x in 0..<16 { codes += x < 8 ? [0, 0, 0] : [255, 128, 0] } }
        try Image.fromPixels(codes, width: 16, height: 8, bands: 3).writePNG(to: source)
        let picture = try studio.pixels(of: source, [Filter("CIEdges")])
        #expect(picture.pixel(2, 4) == [0, 0, 0] && picture.pixel(13, 4) == [0, 0, 0])
        // The step of red is 1 in linear light: Sobel gives 4 and a quarter of it is 1.
        #expect(picture.pixel(7, 4) == [255, 128, 0] && picture.pixel(8, 0) == [255, 128, 0])
    }

    @Test func `a chain in one pass is the same as its filters one after another`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        try TestPicture.image(width: 300, height: 40).writePNG(to: source)
        let filters = [
            try Filter("CISepiaTone", ["intensity": 0.5]), try Filter("CIColorInvert"),
            try Filter("CIColorInvert"),
        ]
        let fused = try studio.pixels(of: source, filters, stem: "fused")
        let once = try studio.pixels(of: source, [filters[0]], stem: "once")
        #expect(fused.difference(from: once).max <= 1)
        // An edge filter of intensity 0 makes black, which inverts to white: the passes keep order.
        let white = try studio.pixels(
            of: source, [filters[0], Filter("CIEdges", ["intensity": 0]), filters[1]])
        #expect(white.bytes.allSatisfy { $0 == 255 })
    }
}
