import Edits
import Filters
import Foundation
@testable import Rendering
import RenderProtocol
import Testing
import Codecs

@Suite("Colour") struct ColourTests {
    private func profile(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: Studio.fixture(name))))
    }

    /// CSS Color 4 §10: linear Display P3 to linear sRGB.
    private static let p3: [Double] = [
        1.2249401763, -0.2249401763, 0, -0.0420569547, 1.0420569547, 0,
        -0.0196375546, -0.0786360456, 1.0982736001,
    ]
    private static let p3Back: [Double] = [
        0.8224619687, 0.1775380313, 0, 0.0331941989, 0.9668058011, 0,
        0.0170826307, 0.0723974407, 0.9105199286,
    ]

    private func times(_ m: [Double], _ v: [Double]) -> [Double] {
        (0..<3).map { m[3 * $0] * v[0] + m[3 * $0 + 1] * v[1] + m[3 * $0 + 2] * v[2] }
    }

    @Test func `a Display P3 photo keeps its profile and is edited in linear sRGB`() throws {
        let studio = try Studio()
        let (width, height) = (32, 24)
        let codes = TestPicture.codes(width: width, height: height)
        let bytes = try profile("DisplayP3-v4.icc")
        let source = studio.path("in.png")
        try TestPicture.image(width: width, height: height)
            .changing([.setData("icc-profile-data", bytes)]).writePNG(to: source)
        let picture = try studio.pixels(of: source, [Filter("CISepiaTone", ["intensity": 0.8])])
        #expect(picture.image.data("icc-profile-data") == bytes)
        for index in 0..<width * height {
            let v = (0..<3).map { Reference.decode(Double(codes[3 * index + $0])) }
            let x = times(Self.p3, v)
            let y = max(0, 0.2125 * x[0] + 0.7154 * x[1] + 0.0721 * x[2])
            let brown = [pow(y, 0.8), pow(y, 1.1), y * y]
            let edited = zip(x, brown).map { $0 + ($1 - $0) * 0.8 }
            let expected = times(Self.p3Back, edited).map(Reference.encode)
            let found = picture.pixel(index % width, index / width)
            for (a, b) in zip(found, expected) {
                #expect(abs(a - b) <= 2, "\(found), not \(expected)")
            }
        }
    }

    @Test(arguments: ["DisplayP3-v4.icc", "AdobeCompat-v4.icc"])
    func `our reading of a matrix profile agrees with Little CMS`(_ name: String) throws {
        try VipsLibrary.start()
        // Dull colours, which lie inside both spaces.
        let codes = TestPicture.codes(width: 32, height: 32).map { 90 + $0 / 4 }
        let bytes = try profile(name)
        let image = try Image.fromPixels(codes, width: 32, height: 32, bands: 3)
            .changing([.setData("icc-profile-data", bytes)])
        let reference = try image.convertedToSRGB(fallback: "srgb", bits: 8).pixels()
        let matrix = try #require(ICCMatrixProfile(bytes))
        let layout = PixelProgram.Layout(sample: .encoded8, bands: 3)
        let ours = try image.running(
            PixelProgram(
                source: layout, filters: [], target: layout, height: 32,
                colour: #require(PhotoColour(matrix)), targetColour: .sRGB)
        ).pixels()
        let worst = zip(ours, reference).map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(worst <= 1)
    }

    @Test func `a damaged profile is refused and not believed`() throws {
        let bytes = try profile("DisplayP3-v4.icc")
        for length in stride(from: 0, to: bytes.count - 1, by: 7) {
            #expect(ICCMatrixProfile(Array(bytes.prefix(length))) == nil)
        }
    }

    @Test func `a 16-bit PNG stays at 16 bits and is exact`() throws {
        let studio = try Studio()
        let values: [UInt16] = [0, 1, 300, 5000, 20_000, 40_001, 65_534, 65_535, 33_333]
        let bytes = values.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let source = studio.path("in.png")
        try Image.fromPixels(
            bytes, width: 3, height: 1, bands: 3, format: .ushort, interpretation: "rgb16"
        ).writePNG(to: source)
        let picture = try studio.pixels(
            of: source, [Filter("CIColorInvert"), Filter("CIColorInvert")])
        #expect(picture.image.format == .ushort)
        for (index, value) in values.enumerated() {
            let found = Int(picture.bytes[2 * index]) + Int(picture.bytes[2 * index + 1]) << 8
            #expect(abs(found - Int(value)) <= 2, "\(found), not \(value)")
        }
    }

    /// All powers that photos carry; a gamma of 2.6 is the steepest at the dark end.
    @Test(arguments: [ToneCurve.sRGB, .gamma(1), .gamma(1.8), .gamma(2.2), .gamma(2.6)])
    func `16-bit codes lie within one of the curve itself`(_ curve: ToneCurve) throws {
        let colour = PhotoColour(curves: [curve, curve, curve])
        let table = try #require(ColourTables.encoded16(colour).first)
        var worst = 0.0
        for step in 0...200_000 {
            let share = Double(step) / 200_000
            let light = Float(share * share * share)
            let (position, way) = ColourTables.scale16.position(light)
            let entry = Int(position)
            let code = table.values[entry] + (table.values[entry + 1] - table.values[entry]) * way
            worst = max(worst, abs(Double(code) - curve.encoded(Double(light)) * 65_535))
        }
        #expect(worst < 1)
    }

    @Test func `alpha stays in a PNG and is laid on white in a JPEG`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        var codes: [UInt8] = []
        for _ in 0..<16 {
            for x in 0..<32 { codes += x < 16 ? [0, 0, 0, 0] : [255, 255, 255, 255] }
        }
        try Image.fromPixels(codes, width: 32, height: 16, bands: 4).writePNG(to: source)
        let invert = [try Filter("CIColorInvert")]
        let png = try studio.pixels(of: source, invert)
        #expect(png.pixel(2, 2)[3] == 0 && png.pixel(30, 2) == [0, 0, 0, 255])
        let report = try studio.render(source, invert, format: .jpeg, quality: 1, stem: "flat")
        let jpeg = try Picture(studio.path(report.output.name))
        #expect(jpeg.bands == 3)
        #expect(jpeg.pixel(2, 2) == [255, 255, 255] && jpeg.pixel(30, 2) == [0, 0, 0])
    }

    @Test func `a grey photo becomes RGB`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        try Image.fromPixels(
            [0, 128, 255], width: 3, height: 1, bands: 1, interpretation: "b-w"
        ).writePNG(to: source)
        let picture = try studio.pixels(of: source, [Filter("CISepiaTone", ["intensity": 0.8])])
        #expect(picture.bands == 3)
        for (a, b) in zip(picture.pixel(1, 0), [144, 121, 80]) { #expect(abs(a - b) <= 1) }
    }

    @Test(arguments: [1, 2, 4])
    func `the bytes are the same whatever the number of threads`(_ threads: Int) throws {
        let studio = try Studio()
        let source = studio.path("in.jpg")
        try TestPicture.image(width: 500, height: 300).writeJPEG(
            to: source, quality: 90, chroma: .on)
        let filters = [
            try Filter("CISepiaTone"), try Filter("CIMotionBlur", ["radius": 8, "angle": 0.4]),
            try Filter("CIPhotoEffectMono"),
        ]
        let one = try studio.render(source, filters, stem: "one")
        let more = try studio.render(source, filters, stem: "more", threads: threads)
        #expect(one.output.digest == more.output.digest)
    }
}
