import Adjustments
import Foundation
import RenderProtocol
import Testing
import Vips

@testable import Filters
@testable import Rendering

@Suite("Motion blur") struct MotionBlurTests {
    @Test(arguments: [
        (2.0, 0.0), (2.0, 0.6), (9.0, 0.0), (9.0, Double.pi / 2), (9.0, 2.2), (9.0, -0.3),
    ])
    func `it is a Gaussian along its direction, counter-clockwise`(
        _ radius: Double, _ angle: Double
    )
        throws
    {
        let studio = try Studio()
        let (width, height) = (40, 30)
        let codes = TestPicture.codes(width: width, height: height)
        let source = studio.path("in.png")
        try Image.fromPixels(codes, width: width, height: height, bands: 3).writePNG(to: source)
        let picture = try studio.pixels(
            of: source,
            [Filter("CIMotionBlur", ["radius": .number(radius), "angle": .number(angle)])])
        let expected = Reference.motionBlur(
            codes, width: width, height: height, radius: radius, angle: angle)
        var sum = 0
        var most = 0
        for (a, b) in zip(picture.bytes, expected) {
            let d = abs(Int(a) - b)
            sum += d * d
            most = max(most, d)
        }
        // A wide slanted blur interpolates twice across: that is the rest.
        #expect((Double(sum) / Double(expected.count)).squareRoot() < 0.6)
        #expect(most <= 2)
    }

    @Test func `the picture keeps its size and an even colour stays`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        try Image.fromPixels(
            [UInt8](repeating: 200, count: 50 * 20 * 3), width: 50, height: 20, bands: 3
        ).writePNG(to: source)
        let picture = try studio.pixels(
            of: source, [Filter("CIMotionBlur", ["radius": 40, "angle": 1])])
        #expect(picture.width == 50 && picture.height == 20)
        #expect(picture.bytes.allSatisfy { abs(Int($0) - 200) <= 1 })
    }

    @Test func `radius 0 changes nothing`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        try TestPicture.image(width: 33, height: 17).writePNG(to: source)
        let picture = try studio.pixels(of: source, [Filter("CIMotionBlur", ["radius": 0])])
        #expect(try picture.difference(from: Picture(source)).max == 0)
    }

    @Test func `the work grows with the root of the radius`() throws {
        let blur = CIMotionBlur(try Filter("CIMotionBlur", ["radius": 500, "angle": 0]))
        #expect(
            blur.stages.compactMap { ($0 as? DirectionalKernel)?.taps.count }.reduce(0, +) < 300)
        #expect((1750...1850).contains(blur.reach.columns) && blur.reach.rows == 0)
    }

    @Test(arguments: [(14.0, 0.9), (3.0, 2.0), (20.0, Double.pi / 2)])
    func `streaming and spooling give the same pixels`(_ radius: Double, _ angle: Double) throws {
        let studio = try Studio()
        let linear = try TestPicture.image(width: 60, height: 50).running(
            PixelProgram(
                source: .init(sample: .encoded8, bands: 3), filters: [],
                target: .init(sample: .linear, bands: 3), height: 50, colour: .sRGB)
        ).inMemory()
        let blur = CIMotionBlur(
            try Filter("CIMotionBlur", ["radius": .number(radius), "angle": .number(angle)]))
        let streamed = try linear.runningStreaming(blur).pixels()
        let spooled = try linear.runningFromSpool(blur, spool: studio.path("spool")).pixels()
        #expect(streamed == spooled)
    }
}
