import Edits
import Foundation
import RenderProtocol
import Testing
import Codecs

@testable import Filters
@testable import Rendering

@Suite("Motion blur") struct MotionBlurTests {
    @Test(arguments: [
        (2.0, 0.0), (2.0, 0.6), (9.0, 0.0), (9.0, Double.pi / 2), (9.0, 2.2), (9.0, -0.3),
        (25, 0.785), (25, -1.2), (25, 0.02), (25, 1.55), (60, 0.4), (60, 2.0),
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
        // A wide slanted blur interpolates twice across, and a flat one rounds from stripe to stripe.
        #expect((Double(sum) / Double(expected.count)).squareRoot() < 0.7)
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

    @Test func `how far it looks follows its direction`() throws {
        let flat = CIMotionBlur(try Filter("CIMotionBlur", ["radius": 500, "angle": 0]))
        #expect(flat.reach == Extent(columns: 1875, rows: 0))
        let steep = CIMotionBlur(
            try Filter("CIMotionBlur", ["radius": 100, "angle": .number(.pi / 3)]))
        #expect((324...325).contains(steep.reach.rows) && (187...189).contains(steep.reach.columns))
    }
}
