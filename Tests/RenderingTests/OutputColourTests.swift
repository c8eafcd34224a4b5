import Edits
import Foundation
import RenderProtocol
import Testing

@testable import Rendering
@testable import Codecs

/// Little CMS judges: libvips' `icc_transform` with the same profiles.
@Suite("Colours of results") struct OutputColourTests {
    private func profile(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: Studio.fixture(name))))
    }

    /// Dull colours, which lie inside all spaces, so that nobody has to clip.
    private func dull(bands: Int = 3) -> [UInt8] {
        TestPicture.codes(width: 32, height: 32, bands: bands).map { 90 + $0 / 4 }
    }

    private func rendered(_ image: Image, _ studio: Studio, to space: Recipe.ColorSpace) throws
        -> Picture
    {
        try image.writeTIFF(to: studio.path("in.tif"))
        let report = try studio.render(
            studio.path("in.tif"), [Filter("CISepiaTone", ["intensity": 0])],
            output: .init(format: .png, colorSpace: space, bitDepth: .eight))
        return try Picture(studio.path(report.output.name))
    }

    private func judged(_ image: Image, _ output: String, fallback: String = "srgb") throws
        -> [UInt8]
    {
        try Codecs.Operation.run(
            "icc_transform",
            [
                ("in", .image(image)), ("output_profile", .string(output)),
                ("input_profile", .string(fallback)), ("embedded", .bool(true)),
                ("intent", .string("relative")), ("depth", .int(8)),
            ]
        ).pixels()
    }

    private func worst(_ a: [UInt8], _ b: [UInt8]) -> Int {
        a.count == b.count ? zip(a, b).map { abs(Int($0) - Int($1)) }.max() ?? 0 : 255
    }

    @Test(arguments: ["DisplayP3-v4.icc", "AdobeCompat-v4.icc"])
    func `a wide photo becomes sRGB when that is asked for`(_ name: String) throws {
        let studio = try Studio()
        try VipsLibrary.start()
        let image = try Image.fromPixels(dull(), width: 32, height: 32, bands: 3)
            .changing([.setData("icc-profile-data", profile(name))])
        let picture = try rendered(image, studio, to: .srgb)
        #expect(worst(picture.bytes, try judged(image, "srgb")) <= 1)
        #expect(picture.image.data("icc-profile-data") == OutputColour.sRGBProfile)
    }

    @Test func `an sRGB photo becomes Display P3 when that is asked for`() throws {
        let studio = try Studio()
        try VipsLibrary.start()
        let image = try Image.fromPixels(dull(), width: 32, height: 32, bands: 3)
        let picture = try rendered(image, studio, to: .displayP3)
        let reference = try judged(image, Studio.fixture("DisplayP3-v4.icc"))
        #expect(worst(picture.bytes, reference) <= 1)
        #expect(picture.image.data("icc-profile-data") == OutputColour.displayP3Profile)
    }

    @Test(arguments: [Recipe.ColorSpace.source, .srgb])
    func `a CMYK photo becomes sRGB in any case`(_ space: Recipe.ColorSpace) throws {
        let studio = try Studio()
        try VipsLibrary.start()
        let image = try Image.fromPixels(
            dull(bands: 4), width: 32, height: 32, bands: 4, interpretation: "cmyk")
        let picture = try rendered(image, studio, to: space)
        #expect(picture.bands == 3)
        #expect(worst(picture.bytes, try judged(image, "srgb", fallback: "cmyk")) <= 1)
        #expect(picture.image.data("icc-profile-data") == OutputColour.sRGBProfile)
    }

    @Test func `a grey photo with a profile of its own becomes sRGB`() throws {
        let studio = try Studio()
        try VipsLibrary.start()
        let codes = (0..<256).map { UInt8($0) }
        // A grey of gamma 2.2 on D50: ICC.1:2010 §7.2, §8.4.4, §10.5.
        let image = try Image.fromPixels(
            codes, width: 256, height: 1, bands: 1, interpretation: "b-w"
        ).changing([.setData("icc-profile-data", GreyProfile.gamma(2.2))])
        let picture = try rendered(image, studio, to: .source)
        #expect(picture.bands == 3)
        for x in 0..<256 {
            let expected = Reference.encode(pow(Double(x) / 255, 2.2))
            let found = picture.pixel(x, 0)
            #expect(
                found.allSatisfy { abs(Double($0) - Double(expected)) <= 1.5 }, "\(x): \(found)")
        }
        #expect(picture.image.data("icc-profile-data") == OutputColour.sRGBProfile)
    }

    @Test func `alpha comes through a conversion as it was`() throws {
        let studio = try Studio()
        try VipsLibrary.start()
        let image = try Image.fromPixels(
            dull(bands: 5), width: 32, height: 32, bands: 5, interpretation: "cmyk")
        let picture = try rendered(image, studio, to: .source)
        #expect(picture.bands == 4)
        let alpha = stride(from: 3, to: picture.bytes.count, by: 4).map { picture.bytes[$0] }
        #expect(alpha == stride(from: 4, to: 32 * 32 * 5, by: 5).map { dull(bands: 5)[$0] })
    }

    @Test func `a profile of another kind of picture is not believed`() throws {
        let studio = try Studio()
        try VipsLibrary.start()
        let image = try Image.fromPixels(dull(), width: 32, height: 32, bands: 3)
            .changing([.setData("icc-profile-data", GreyProfile.gamma(1))])
        let picture = try rendered(image, studio, to: .source)
        #expect(picture.bytes == dull())
        #expect(picture.image.data("icc-profile-data") == nil)
    }

    private func avif(_ studio: Studio, primaries: Int, transfer: Int) throws -> String {
        try VipsLibrary.start()
        let image = try Image.fromPixels(dull(), width: 32, height: 32, bands: 3)
        return try studio.write(
            CodedAVIF.bytes(of: image, primaries: primaries, transfer: transfer, studio),
            as: "coded.avif")
    }

    @Test func `an AVIF that is Display P3 by its codes alone is read as that`() throws {
        let studio = try Studio()
        func green(_ primaries: Int) throws -> (Picture, TestRender) {
            let report = try studio.render(
                try avif(studio, primaries: primaries, transfer: 13),
                [Filter("CISepiaTone", ["intensity": 0])],
                output: .init(format: .png, colorSpace: .srgb), stem: "p\(primaries)")
            return (try Picture(studio.path(report.output.name)), report)
        }
        let (plain, _) = try green(1)
        let (wide, report) = try green(12)
        #expect(report.header.hasProfile && report.header.notes.isEmpty)
        let tagged = try Image.fromPixels(plain.bytes, width: 32, height: 32, bands: 3)
            .changing([.setData("icc-profile-data", OutputColour.displayP3Profile)])
        #expect(worst(wide.bytes, try judged(tagged, "srgb")) <= 2)
        #expect(worst(wide.bytes, plain.bytes) > 2)
    }

    @Test
    func `a picture of other primaries that is read as sRGB says so, and one of PQ is refused`()
        throws
    {
        let studio = try Studio()
        let header = try PhotoFile(at: avif(studio, primaries: 10, transfer: 13)).header()
        #expect(header.notes == ["colours of H.273 10/13 are read as sRGB"])
        let hdr = try avif(studio, primaries: 9, transfer: 16)
        let failure = #expect(throws: Failure.self) { try PhotoFile(at: hdr) }
        #expect(failure?.code == .unsupportedFormat && failure?.message.contains("PQ") == true)
    }

    /// The file needs its own profile to look right: it is a table from XYB.
    @Test(.enabled(if: Studio.corpus != nil)) func `an XYB JPEG is as Little CMS sees it`() throws {
        let studio = try Studio()
        let path = try #require(Studio.corpus) + "/photos/jpeg/sample-xyb.jpg"
        _ = try studio.render(
            path, [Filter("CISepiaTone", ["intensity": 0])], output: .init(format: .png))
        let image = try Image.open(path, loader: "jpegload", streaming: false, failOn: .error)
        #expect(worst(try Picture(studio.path("out.png")).bytes, try judged(image, "srgb")) <= 1)
    }
}

/// Grey profiles of a pure power.
enum GreyProfile {
    static func gamma(_ exponent: Double) -> [UInt8] {
        func big(_ value: Int) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        let white = Array("XYZ \0\0\0\0".utf8) + big(0xF6D6) + big(0x10000) + big(0xD32D)
        let fixed = Int((exponent * 256).rounded())
        let curve =
            Array("curv\0\0\0\0".utf8) + big(1) + [UInt8(fixed >> 8), UInt8(fixed & 255), 0, 0]
        let tags = 128 + 4 + 2 * 12
        let body =
            big(2) + Array("wtpt".utf8) + big(tags) + big(white.count) + Array("kTRC".utf8)
            + big(tags + white.count) + big(curve.count) + white + curve
        var header = [UInt8](repeating: 0, count: 128)
        func put(_ bytes: [UInt8], at offset: Int) {
            header.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
        put(big(128 + body.count), at: 0)
        put([2, 0x10, 0, 0] + Array("mntrGRAYXYZ ".utf8), at: 8)
        put(Array("acsp".utf8), at: 36)
        put(big(0xF6D6) + big(0x10000) + big(0xD32D), at: 68)
        return header + body
    }
}
