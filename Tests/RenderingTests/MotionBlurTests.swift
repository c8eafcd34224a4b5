import Adjustments
import Foundation
import RenderProtocol
import Testing
import Vips

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
            of: source, [Filter("CIMotionBlur", ["radius": radius, "angle": angle])])
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
        let blur = MotionBlur(try Filter("CIMotionBlur", ["radius": 500, "angle": 0]))
        #expect(blur.stages.map(\.taps.count).reduce(0, +) < 300)
        #expect((1750...1850).contains(blur.reach.columns) && blur.reach.rows == 0)
    }

    @Test func `a window that is read from a whole image gives the same pixels`() throws {
        let kernel = DirectionalKernel(sigma: 5, spacing: 1, slope: 0.4, isSteep: true)
        let (width, height) = (30, 25)
        let codes = TestPicture.codes(width: width, height: height)
        let image = try Image.fromPixels(codes, width: width, height: height, bands: 3)
        let linear = try image.running(
            PixelProgram(
                source: .init(sample: .encoded8, bands: 3), filters: [],
                target: .init(sample: .linear, bands: 3), colour: .sRGB)
        ).inMemory()
        let picture = RegionPicture(
            width: width, height: height, bands: 3, format: .float, interpretation: "scrgb")
        let windowed = try linear.padded(columns: kernel.columns, rows: kernel.rows).computing(
            picture, margins: (2 * kernel.columns, 2 * kernel.rows)
        ) { kernel.run($0, $1, bands: 3) }
        let whole = try linear.computingFromWhole(picture) { kernel.run($0, $1, bands: 3) }
        #expect(try windowed.pixels() == whole.pixels())
    }
}
