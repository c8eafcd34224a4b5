import Edits
import Files
import Foundation
import RenderProtocol
import Testing
import Codecs

@testable import Filters
@testable import Rendering

/// What ranges alone cannot say is refused when a filter is made, before any pixel is read.
@Suite("Making filters") struct FilterMakingTests {
    @Test(arguments: [
        ("CIToneCurve:point2=[0.25,0.5]", FailureCode.invalidValue, "inputPoint2 lies at 0.25"),
        ("CIToneCurve:point4=[0.1,1]", .invalidValue, "inputPoint4 lies at 0.1"),
        (
            "CIColorClamp:minComponents=[0,0.7,0,0],maxComponents=[1,0.6,1,1]", .invalidValue,
            "[1] is 0.7"
        ),
        ("CIColorCurves:curvesDomain=[1,1]", .invalidValue, "1.0 to 1.0"),
        ("CITemperatureAndTint:neutral=[900,0]", .parameterOutOfRange, "inputNeutral is 900.0 K"),
        ("CITemperatureAndTint:targetNeutral=[6500,151]", .parameterOutOfRange, "tint 151.0"),
        ("CIColorCube:cubeDimension=2.5", .invalidValue, "2.5"),
        ("CIColorCube:cubeDimension=3", .invalidValue, "expected 108"),
        (
            "CIColorCube:cubeData=sha256:\(String(repeating: "0", count: 64))", .missingResource,
            "0000"
        ),
        ("cube:file=sha256:\(String(repeating: "0", count: 64))", .missingResource, "0000"),
    ])
    func `what makes no sense is refused with the value`(
        _ text: String, _ code: FailureCode, _ part: String
    ) throws {
        let filter = try Filter(text: text, at: "filter")
        guard case .pixel(let make) = filter.definition.kernel else { return }
        let failure = #expect(throws: Failure.self) {
            _ = try make(filter, FilterContext(size: PixelSize(width: 8, height: 8)))
        }
        #expect(
            failure?.code == code && failure?.message.contains(part) == true, "\(failure as Any)")
    }

    @Test(arguments: [
        "CIExposureAdjust:ev=nan", "CIGammaAdjust:power=inf", "CIGammaAdjust:power=0",
    ])
    func `numbers that are none are refused`(_ text: String) {
        #expect(throws: Failure.self) { try Filter(text: text, at: "filter") }
    }

    @Test func `a spline goes through its points and on straight beyond them`() {
        let spline = NaturalSpline(x: [0, 0.1, 0.3, 0.6, 1.1], y: [0, 0.5, 0.15, 0.6, 1])
        for (x, y) in [(0, 0), (0.1, 0.5), (0.3, 0.15), (0.6, 0.6), (1.1, 1)] {
            #expect(abs(spline.value(at: x) - y) < 1e-12)
        }
        let (one, two, three) = (spline.value(at: 2), spline.value(at: 3), spline.value(at: 4))
        #expect(abs(three - 2 * two + one) < 1e-9)
        // Straight at the ends, smooth at the points: the second difference nearly vanishes at 0.
        let h = 1e-4
        let bend = spline.value(at: h) - 2 * spline.value(at: 0) + spline.value(at: -h)
        #expect(abs(bend) < 1e-5)
    }

    @Test func `daylight of 6504 K is the white of sRGB, and green lies to the green of it`() {
        let white = WhitePoint.xyz(kelvin: 6504, tint: 0)
        #expect(abs(white[0] - 0.9505) < 0.001 && abs(white[2] - 1.0888) < 0.002)
        let green = WhitePoint.xyz(kelvin: 6504, tint: 50)
        #expect(
            green[0] < white[0] && green[2] < white[2], "less red and blue beside as much light")
    }

    @Test func `a temperature's way back undoes it`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        try Image.fromPixels(
            [120, 130, 140, 90, 80, 70], width: 2, height: 1, bands: 3
        ).writePNG(to: source)
        let picture = try studio.pixels(
            of: source,
            [
                Filter(text: "CITemperatureAndTint:targetNeutral=[5000,20]", at: "a"),
                Filter(text: "CITemperatureAndTint:neutral=[5000,20]", at: "b"),
            ])
        #expect(picture.bytes == [120, 130, 140, 90, 80, 70])
    }

    @Test func `a photo without alpha gets some by opacity, and a JPEG shows the background`()
        throws
    {
        let studio = try Studio()
        let source = studio.path("in.png")
        // Wider than a chunk: alpha begins anew in each.
        try Image.fromPixels(
            Array(repeating: 128, count: 3 * 600), width: 600, height: 1, bands: 3
        ).writePNG(to: source)
        let filters = [try Filter(text: "css:opacity(0.5)", at: "filter")]
        let picture = try studio.pixels(of: source, filters)
        #expect(picture.bands == 4)
        for x in [0, 255, 256, 599] { #expect(picture.pixel(x, 0) == [128, 128, 128, 128]) }
        let report = try studio.render(source, filters, format: .jpeg, stem: "jpeg")
        // Half of 128's light and half of white's: 0.608 of linear light is 205.
        let jpeg = try Picture(studio.path(report.output.name))
        #expect(abs(jpeg.pixel(300, 0)[0] - 205) <= 1, "\(jpeg.pixel(300, 0))")
    }

    @Test func `a chain that grows without bounds ends in white and black, with 16 bits too`()
        throws
    {
        let studio = try Studio()
        let source = studio.path("in.png")
        try TestPicture.image(width: 40, height: 30).writePNG(to: source)
        let cube = "[0,0,0,1000]"
        let filters = try (0..<20).map { _ in
            try Filter(
                text:
                    "CIColorPolynomial:redCoefficients=\(cube),greenCoefficients=[-1000,0,0,1000]",
                at: "filter")
        }
        let recipe = try Recipe(filters: filters, output: .init(format: .png, bitDepth: .sixteen))
        let report = try studio.render(source, recipe)
        #expect(report.output.size == PixelSize(width: 40, height: 30))
    }

    @Test
    func `a .cube file is found by its digest and changes the photo as the cube filter would`()
        throws
    {
        let studio = try Studio()
        // Swaps red and blue; 3 nodes, so that a cell's middle is looked at as well.
        var text = "LUT_3D_SIZE 3\n"
        for b in 0..<3 {
            for g in 0..<3 {
                for r in 0..<3 { text += "\(Double(b) / 2) \(Double(g) / 2) \(Double(r) / 2)\n" }
            }
        }
        let file = try studio.write(Array(text.utf8), as: "look.cube")
        let digest = try FileDigest.sha256(of: file).hex
        let resources = studio.path("resources")
        try FileManager.default.createDirectory(
            atPath: resources, withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: file, toPath: resources + "/" + digest)
        let source = studio.path("in.png")
        try Image.fromPixels([200, 100, 50, 7, 8, 9], width: 2, height: 1, bands: 3).writePNG(
            to: source)
        func render(_ filter: String, stem: String) throws -> [UInt8] {
            let recipe = try Recipe(
                filters: [Filter(text: filter, at: "filter")], output: .init(format: .png))
            let report = try studio.render(source, recipe, resources: resources, stem: stem)
            return try Picture(studio.path(report.output.name)).bytes
        }
        #expect(try render("cube:file=sha256:\(digest)", stem: "a") == [50, 100, 200, 9, 8, 7])
        #expect(
            try render("cube:file=sha256:\(digest),intensity=0", stem: "b") == [
                200, 100, 50, 7, 8, 9,
            ])
    }

    @Test func `a table of floats may be a file`() throws {
        let studio = try Studio()
        var floats: [Float] = []
        for node in 0..<8 {
            floats += [Float(node >> 2), Float(node >> 1 & 1), Float(node & 1), 1]
        }
        let bytes = floats.flatMap { value in
            withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) }
        }
        let path = try studio.write(bytes, as: "table")
        let filter = try Filter(
            text: "CIColorCube:cubeData=sha256:\(String(repeating: "0", count: 64))", at: "filter")
        guard case .pixel(let make) = filter.definition.kernel else { return }
        let size = PixelSize(width: 8, height: 8)
        _ = try make(filter, context(size, path))
        for (name, broken) in [
            ("short", Array(bytes.dropLast())), ("nan", [0, 0, 0xC0, 0x7F] + bytes.dropFirst(4)),
        ] {
            let path = try studio.write(broken, as: name)
            let failure = #expect(throws: Failure.self) {
                _ = try make(filter, context(size, path))
            }
            #expect(failure?.code == .badResource)
        }
    }

    /// A context in which every digest is that of one file.
    private func context(_ size: PixelSize, _ path: String) -> FilterContext {
        FilterContext(
            size: size,
            resource: { _, bytesMax throws(Failure) in
                let file = try OpenFile(reading: path)
                return file.bytes(from: 0, count: bytesMax)
            },
            picture: { digest, _ throws(Failure) in
                throw Failure(.missingResource, "\(digest) is no picture.")
            })
    }
}
