import Edits
import Filters
import Foundation
import PhotoFiles
@testable import Rendering
import RenderProtocol
import Testing

@testable import Codecs

/// Colours that a file declares without an ICC profile. The expected numbers are those that Chromium 156 shows of the same bytes on
/// a canvas of sRGB.
@Suite("Colours declared by numbers") struct DeclaredColourTests {
    /// A PNG whose pixels are given, with chunks before them.
    private func png(
        _ chunks: [(String, [UInt8])], _ pixels: [[Int]], bits: Int = 8, palette: [UInt8]? = nil
    ) throws -> [UInt8] {
        let type = palette != nil ? 3 : [1: 0, 2: 4, 3: 2, 4: 6][pixels[0].count] ?? 2
        var bytes: [UInt8] = [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A]
        bytes += PNGChunk.bytes(
            "IHDR",
            PNGChunk.number(pixels.count) + PNGChunk.number(1) + [
                UInt8(bits), UInt8(type), 0, 0, 0,
            ]
        )
        for (name, data) in chunks { bytes += PNGChunk.bytes(name, data) }
        if let palette { bytes += PNGChunk.bytes("PLTE", palette) }
        let row = pixels.flatMap { pixel in
            pixel.flatMap { bits == 16 ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0)] }
        }
        let compressor = try DeflateCompressor(level: 1, blockBytesMax: row.count + 1)
        let deflated = ([0] + row).withUnsafeBytes { Array(compressor.zlib($0)) }
        return bytes + PNGChunk.bytes("IDAT", deflated) + PNGChunk.bytes("IEND", [])
    }

    private static func gamma(_ number: Int) -> (String, [UInt8]) {
        ("gAMA", PNGChunk.number(number))
    }
    private static func chromaticities(_ numbers: [Int]) -> (String, [UInt8]) {
        ("cHRM", numbers.flatMap(PNGChunk.number))
    }
    private static let ofSRGB = chromaticities([
        31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000,
    ])
    private static let ofAdobe = chromaticities([
        31_270, 32_900, 64_000, 33_000, 21_000, 71_000, 15_000, 6_000,
    ])
    private static func coded(_ numbers: [UInt8]) -> (String, [UInt8]) { ("cICP", numbers) }

    /// Renders, and returns what the result shows on a screen of sRGB, by Little CMS.
    private func shown(
        _ bytes: [UInt8], _ studio: Studio, as format: Recipe.Format = .png,
        name: String = "in.png", colorSpace: Recipe.ColorSpace = .source
    ) throws -> [[Int]] {
        let source = try studio.write(bytes, as: name)
        let report = try studio.render(
            source, [Filter("CIExposureAdjust", ["ev": 0.0001])],
            output: .init(format: format, quality: 1, colorSpace: colorSpace, bitDepth: .eight))
        let picture = try Picture(studio.path(report.output.name))
        let rgb = try picture.image.bands(from: 0, count: 3)
        let codes =
            picture.image.data("icc-profile-data") == nil
            ? try rgb.pixels() : try rgb.convertedToSRGB(fallback: "srgb", bits: 8).pixels()
        return (0..<picture.width).map { x in (0..<3).map { Int(codes[3 * x + $0]) } }
    }

    private static let pixels = [
        [5, 5, 5], [20, 20, 20], [128, 128, 128], [128, 60, 128], [200, 60, 128],
    ]

    /// Chunks, and what is shown of the greys 5, 20 and 128, and of (200, 60, 128).
    private struct Case {
        let chunks: [(String, [UInt8])]
        let greys: [Int]
        let colour: [Int]
    }

    private static let plain = (greys: [5, 20, 128], colour: [200, 60, 128])

    private static var cases: [Case] {
        var cases: [Case] = []
        func add(_ chunks: [(String, [UInt8])], _ greys: [Int], _ colour: [Int]) {
            cases.append(Case(chunks: chunks, greys: greys, colour: colour))
        }
        add([], plain.greys, plain.colour)
        add([gamma(100_000)], [38, 79, 188], [229, 133, 188])
        add([gamma(55_556)], [3, 26, 146], [210, 77, 146])
        // Near to sRGB, which is what such files mean, unless they name primaries.
        add([gamma(45_455)], plain.greys, plain.colour)
        add([ofSRGB, gamma(45_455)], [1, 12, 129], [201, 57, 129])
        add([ofAdobe, gamma(45_455)], [1, 12, 129], [231, 57, 131])
        // Primaries alone, and numbers that are mistakes, say nothing.
        add([ofAdobe], plain.greys, plain.colour)
        add([gamma(0)], plain.greys, plain.colour)
        add([gamma(1)], plain.greys, plain.colour)
        add([("sRGB", [0]), gamma(55_556), ofAdobe], plain.greys, plain.colour)
        add([coded([12, 13, 0, 1]), gamma(55_556)], plain.greys, [217, 43, 130])
        add([coded([9, 13, 0, 1])], plain.greys, [245, 0, 131])
        add([coded([9, 1, 0, 1])], [0, 7, 121], [243, 0, 124])
        add([coded([1, 1, 0, 1])], [0, 7, 121], [197, 49, 121])
        add([coded([12, 4, 0, 1])], [1, 12, 129], [219, 37, 131])
        add([coded([1, 5, 0, 1])], [0, 3, 106], [189, 36, 106])
        add([coded([1, 7, 0, 1])], [15, 38, 141], [206, 77, 141])
        add([coded([4, 13, 0, 1])], plain.greys, [234, 59, 127])
        add([coded([11, 13, 0, 1])], plain.greys, [212, 41, 130])
        add([coded([22, 13, 0, 1])], plain.greys, [202, 70, 128])
        // Numbers that are no red, green and blue of the full range, or not known: the next chunk speaks.
        add([coded([12, 13, 0, 0]), ("sRGB", [0])], plain.greys, plain.colour)
        add([coded([12, 2, 0, 1])], plain.greys, plain.colour)
        add([coded([2, 13, 0, 1]), gamma(100_000)], [38, 79, 188], [229, 133, 188])
        return cases
    }

    private func isNear(_ found: [Int], _ expected: [Int], within tolerance: Int) -> Bool {
        zip(found, expected).allSatisfy { abs($0 - $1) <= tolerance }
    }

    @Test func `a PNG is shown as by a browser`() throws {
        let studio = try Studio()
        for test in Self.cases {
            let shown = try shown(png(test.chunks, Self.pixels), studio)
            let names = test.chunks.map { "\($0.0) \($0.1)" }
            // Dark codes of a steep curve are coarse in 8 bits.
            for (index, grey) in test.greys.enumerated() {
                let greys = [Int](repeating: grey, count: 3)
                #expect(
                    isNear(shown[index], greys, within: grey < 20 ? 6 : 2), "\(names): \(shown)")
            }
            #expect(isNear(shown[4], test.colour, within: 3), "\(names): \(shown[4])")
        }
    }

    @Test func `cICP speaks before an ICC profile`() throws {
        let studio = try Studio()
        let adobe = [UInt8](
            try Data(contentsOf: URL(filePath: Studio.fixture("AdobeCompat-v4.icc"))))
        let compressor = try DeflateCompressor(level: 1, blockBytesMax: adobe.count)
        let deflated = adobe.withUnsafeBytes { Array(compressor.zlib($0)) }
        let profile = ("iCCP", Array("a\0\0".utf8) + deflated)
        let plain = try shown(png([Self.coded([1, 13, 0, 1]), profile], Self.pixels), studio)
        #expect(isNear(plain[4], [200, 60, 128], within: 1), "\(plain)")
        let wide = try shown(png([profile, Self.gamma(55_556)], Self.pixels), studio)
        #expect(wide[4][0] > 220, "\(wide)")
    }

    @Test(arguments: [Recipe.Format.png, .jpeg])
    func `deep and linear codes become codes of sRGB where the result has 8 bits`(
        format: Recipe.Format
    ) throws {
        let studio = try Studio()
        // Light of sRGB's codes 8 and 128, black, and red 220, green 30, blue 30.
        let pixels: [[Int]] = [
            [159, 159, 159], [14_146, 14_146, 14_146], [0, 0, 0], [46_903, 851, 851],
        ]
        let bytes = try png(
            [Self.gamma(100_000), Self.ofSRGB],
            pixels.flatMap { [[Int]](repeating: $0, count: 16) }, bits: 16)
        let shown = try shown(bytes, studio, as: format)
        #expect(isNear(shown[8], [8, 8, 8], within: 2), "\(shown[8])")
        #expect(isNear(shown[24], [128, 128, 128], within: 2), "\(shown[24])")
        #expect(isNear(shown[56], [220, 30, 30], within: 2), "\(shown[56])")
    }

    @Test func `and stay what they are where the result is deep`() throws {
        let studio = try Studio()
        let bytes = try png(
            [Self.gamma(100_000)], [[300, 40_000, 65_535], [7, 1_000, 0]], bits: 16)
        let report = try studio.render(
            studio.write(bytes, as: "in.png"), [Filter("CIExposureAdjust", ["ev": 0.000001])])
        let picture = try Picture(studio.path(report.output.name))
        #expect(picture.image.format == .ushort)
        let found = stride(from: 0, to: 12, by: 2).map {
            Int(picture.bytes[$0]) | Int(picture.bytes[$0 + 1]) << 8
        }
        let codes = [300, 40_000, 65_535, 7, 1_000, 0]
        #expect(isNear(found, codes, within: 2), "\(found)")
        let profile = try #require(picture.image.data("icc-profile-data"))
        #expect(try #require(ICCMatrixProfile(profile)).curves[0] == .gamma(1))
    }

    @Test func `grey, with alpha or of 16 bits, and a palette have the same chunks`() throws {
        let studio = try Studio()
        let grey = try shown(png([Self.gamma(55_556)], [[128], [20]]), studio)
        #expect(
            isNear(grey[0], [146, 146, 146], within: 1) && isNear(grey[1], [26, 26, 26], within: 1))
        let deep = try shown(
            png([Self.gamma(100_000), Self.ofSRGB], [[14_146], [1_000]], bits: 16), studio)
        #expect(isNear(deep[0], [128, 128, 128], within: 1), "\(deep)")
        let clear = try shown(png([Self.gamma(55_556)], [[128, 200], [20, 255]]), studio)
        #expect(isNear(clear[0], [146, 146, 146], within: 1), "\(clear)")
        let palette = try shown(
            png([Self.gamma(55_556)], [[0], [1]], palette: [200, 60, 128, 20, 20, 20]), studio)
        #expect(isNear(palette[0], [210, 77, 146], within: 2), "\(palette)")
    }

    @Test(arguments: [(16, "PQ"), (18, "HLG")])
    func `a PNG of HDR is refused by its name`(transfer: UInt8, name: String) throws {
        let studio = try Studio()
        let source = try studio.write(
            png([Self.coded([9, transfer, 0, 1])], Self.pixels), as: "in.png")
        let failure = #expect(throws: Failure.self) { try PhotoFile(at: source) }
        #expect(failure?.code == .unsupportedFormat)
        #expect(failure?.message.contains(name) == true)
    }

    @Test func `a profile that is written is read as the same colours`() throws {
        let curves: [Int: ToneCurve] = [9: .sRGB, 12: .gamma(1.8), 4: .gamma(2.2), 1: .gamma(1)]
        for (number, curve) in curves {
            let primaries = try #require(Primaries(h273: number))
            let matrix = try #require(primaries.toXYZ)
            let bytes = ICCProfileBytes.rgb(toXYZ: matrix, curve: curve)
            let read = try #require(ICCMatrixProfile(bytes))
            let worst = zip(read.toXYZ.rows, matrix.rows).map { abs($0 - $1) }.max() ?? 1
            #expect(worst < 0.0001)
            for code in stride(from: 0.0, through: 1, by: 0.1) {
                #expect(abs(read.curves[0].linear(code) - curve.linear(code)) < 0.0005)
            }
        }
        let matrix = try #require(Primaries.sRGB.toXYZ)
        let worst = zip(matrix.rows, ColourMatrix.sRGBToXYZ.rows).map { abs($0 - $1) }.max() ?? 1
        #expect(worst < 0.0005)
    }

    // MARK: AVIF

    @Test(
        arguments: [
            (1, 13, [200, 61, 128]), (1, 1, [200, 61, 128]), (2, 2, [200, 61, 128]),
            (12, 13, [217, 43, 130]), (12, 2, [217, 43, 130]), (9, 13, [245, 0, 131]),
            (9, 1, [245, 0, 131]), (12, 4, [219, 39, 131]), (1, 8, [229, 134, 188]),
            (11, 13, [212, 43, 130]),
        ] as [(Int, Int, [Int])])
    func `an AVIF is shown as by a browser`(primaries: Int, transfer: Int, colour: [Int]) throws {
        let studio = try Studio()
        try VipsLibrary.start()
        let pixels = (0..<32 * 32).flatMap { _ in [200, 60, 128] as [UInt8] }
        let bytes = try CodedAVIF.bytes(
            of: Image.fromPixels(pixels, width: 32, height: 32, bands: 3),
            primaries: primaries, transfer: transfer, studio)
        let shown = try shown(bytes, studio, name: "in.avif")
        #expect(isNear(shown[9], colour, within: 3), "\(shown[9])")
    }

    /// A reference of EXIF to the picture becomes one of the picture to its alpha, which says that colours are multiplied.
    @Test func `colours of an AVIF that are multiplied by alpha are divided by it`() throws {
        let studio = try Studio()
        try VipsLibrary.start()
        let pixels = (0..<32 * 32).flatMap { _ in [100, 30, 64, 128] as [UInt8] }
        let exif: [UInt8] =
            Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        try Image.fromPixels(pixels, width: 32, height: 32, bands: 4)
            .changing([.setData("exif-data", exif)]).writeAVIF(
                to: studio.path("plain.avif"), quality: 100, bits: 8, chroma: .off)
        var file = try Data(contentsOf: URL(filePath: studio.path("plain.avif")))
        let about = try #require(file.range(of: Data("cdsc".utf8)))
        let auxiliary = try #require(file.range(of: Data("auxl".utf8)))
        // A reference: from, a count of one, to.
        let alpha = file[auxiliary.upperBound..<auxiliary.upperBound + 2]
        let picture = file[auxiliary.upperBound + 4..<auxiliary.upperBound + 6]
        file.replaceSubrange(about, with: Data("prem".utf8))
        file.replaceSubrange(
            about.upperBound..<about.upperBound + 6, with: picture + Data([0, 1]) + alpha)
        let source = try studio.write([UInt8](file), as: "in.avif")
        let found = try studio.pixels(of: source, [Filter("CIExposureAdjust", ["ev": 0.0001])])
        #expect(
            isNear(found.pixel(9, 9), [199, 60, 128, 128], within: 4),
            "\(found.pixel(9, 9))")
    }
}
