import Edits
import RenderProtocol
import Testing
import Codecs

@testable import Rendering

@Suite("Filters") struct FilterVectorTests {
    private static let inputs: [[UInt8]] = [
        [255, 255, 255], [128, 128, 128], [255, 0, 0], [0, 255, 0], [0, 0, 255], [200, 100, 50],
        [64, 128, 192], [30, 30, 60], [0, 0, 0],
    ]

    struct Vector: Sendable, CustomTestStringConvertible {
        let filter: String
        let outputs: [[Int]]
        var testDescription: String { filter }
    }

    /// By filter, what becomes of each input but black, which all leave black except those that invert.
    static let vectors = [
        Vector(
            filter: "CISepiaTone:intensity=0.8",
            outputs: [
                [255, 255, 255], [144, 121, 80], [176, 107, 53], [205, 225, 171], [88, 59, 125],
                [160, 116, 59], [133, 118, 104], [49, 27, 24], [0, 0, 0],
            ]),
        Vector(
            filter: "CISepiaTone",
            outputs: [
                [255, 255, 255], [147, 119, 61], [147, 118, 60], [227, 217, 189], [98, 67, 16],
                [147, 119, 61], [144, 116, 57], [53, 26, 1], [0, 0, 0],
            ]),
        Vector(
            filter: "CIColorInvert",
            outputs: [
                [0, 0, 0], [229, 229, 229], [0, 255, 255], [255, 0, 255], [255, 255, 0],
                [174, 240, 251], [249, 229, 183], [254, 254, 250], [255, 255, 255],
            ]),
        Vector(
            filter: "CIExposureAdjust:ev=1",
            outputs: [
                [255, 255, 255], [176, 176, 176], [255, 0, 0], [0, 255, 0], [0, 0, 255],
                [255, 138, 71], [90, 176, 255], [45, 45, 85], [0, 0, 0],
            ]),
        Vector(
            filter: "CIGammaAdjust:power=0.75",
            outputs: [
                [255, 255, 255], [153, 153, 153], [255, 0, 0], [0, 255, 0], [0, 0, 255],
                [213, 127, 78], [92, 153, 206], [55, 55, 88], [0, 0, 0],
            ]),
        Vector(
            filter: "CIColorControls:saturation=1.5,brightness=0.1,contrast=1.2",
            outputs: [
                [255, 255, 255], [139, 139, 139], [255, 0, 0], [0, 255, 0], [0, 0, 255],
                [245, 89, 0], [0, 141, 235], [32, 32, 76], [0, 0, 0],
            ]),
        Vector(
            filter: "CIHueAdjust:angle=1",
            outputs: [
                [255, 255, 255], [128, 128, 128], [180, 129, 0], [0, 254, 247], [233, 0, 208],
                [139, 136, 0], [168, 96, 189], [56, 19, 51], [0, 0, 0],
            ]),
        Vector(
            filter: "CIColorPosterize:levels=6",
            outputs: [
                [255, 255, 255], [124, 124, 124], [255, 0, 0], [0, 255, 0], [0, 0, 255],
                [203, 124, 0], [0, 124, 203], [0, 0, 0], [0, 0, 0],
            ]),
        Vector(
            filter: "CIColorMonochrome",
            outputs: [
                [255, 255, 255], [104, 77, 50], [103, 76, 49], [205, 192, 183], [61, 43, 26],
                [104, 77, 50], [101, 74, 48], [25, 16, 7], [0, 0, 0],
            ]),
        Vector(
            filter: "css:sepia(1)",
            outputs: [
                [255, 255, 239], [173, 154, 120], [100, 89, 69], [196, 175, 136], [48, 43, 33],
                [165, 147, 114], [160, 142, 111], [46, 41, 32], [0, 0, 0],
            ]),
        Vector(
            filter: "css:sepia(80%)",
            outputs: [
                [255, 255, 242], [164, 149, 122], [131, 71, 55], [157, 191, 109], [39, 34, 78],
                [172, 137, 101], [141, 140, 127], [43, 39, 38], [0, 0, 0],
            ]),
        Vector(
            filter: "css:grayscale(1)",
            outputs: [
                [255, 255, 255], [128, 128, 128], [54, 54, 54], [182, 182, 182], [18, 18, 18],
                [118, 118, 118], [119, 119, 119], [32, 32, 32], [0, 0, 0],
            ]),
        Vector(
            filter: "css:invert(1)",
            outputs: [
                [0, 0, 0], [127, 127, 127], [0, 255, 255], [255, 0, 255], [255, 255, 0],
                [55, 155, 205], [191, 127, 63], [225, 225, 195], [255, 255, 255],
            ]),
        Vector(
            filter: "css:hue-rotate(1rad)",
            outputs: [
                [255, 255, 255], [128, 128, 128], [117, 56, 0], [0, 252, 237], [208, 0, 162],
                [105, 132, 12], [151, 101, 205], [54, 24, 49], [0, 0, 0],
            ]),
        Vector(
            filter: "css:saturate(1.5)",
            outputs: [
                [255, 255, 255], [128, 128, 128], [255, 0, 0], [0, 255, 0], [0, 0, 255],
                [241, 91, 16], [37, 133, 229], [29, 29, 74], [0, 0, 0],
            ]),
    ]

    @Test(arguments: vectors)
    func `the test vectors of the reference come out within one code`(_ vector: Vector) throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        try Image.fromPixels(
            Self.inputs.flatMap { $0 }, width: Self.inputs.count, height: 1, bands: 3
        ).writePNG(to: source)
        let filter = try Filter(text: vector.filter, at: "filter")
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
