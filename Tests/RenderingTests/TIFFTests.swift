import Edits
import Filters
import Foundation
import RenderProtocol
import Testing

@testable import Rendering
@testable import Codecs

/// Layouts that libvips 8.14 does not read, or reads with another meaning.
@Suite("TIFFs of all layouts") struct TIFFTests {
    /// The number of a channel: colours that differ, alpha, and something else.
    private static func value(_ x: Int, _ y: Int, _ channel: Int) -> Double {
        [
            Double(20 + 4 * x) / 255, Double(30 + 5 * y) / 255, Double(240 - 3 * x - 2 * y) / 255,
            0.25 + Double(y) / 50, Double((x * y) % 7) / 7, 0.9,
        ][channel]
    }

    /// Renders to a PNG of 8 bits, and returns its pixel at (20, 10).
    private func pixel(_ bytes: [UInt8], _ studio: Studio, notes: [String] = []) throws -> [Int] {
        let source = try studio.write(bytes, as: "in.tif")
        let report = try studio.render(
            source, [Filter("CIExposureAdjust", ["ev": 0.0001])],
            output: .init(format: .png, bitDepth: .eight))
        #expect(report.header.notes == notes)
        return try Picture(studio.path(report.output.name)).pixel(20, 10)
    }

    private func expect(_ pixel: [Int], _ expected: [Double], within tolerance: Int = 1) {
        let codes = expected.map { Int((min(max($0, 0), 1) * 255).rounded()) }
        #expect(pixel.count == codes.count)
        #expect(zip(pixel, codes).allSatisfy { abs($0 - $1) <= tolerance }, "\(pixel), \(codes)")
    }

    private static let spare = "a channel that is neither colour nor alpha is left out"
    private static let spares = "2 channels that are neither colour nor alpha are left out"
    private static let rgb = (0..<3).map { value(20, 10, $0) }
    private static let alpha = value(20, 10, 3)

    @Test(arguments: [
        TIFFMaker(samples: 5, extras: [2, 0]), TIFFMaker(samples: 5, bits: 16, extras: [2, 0]),
        TIFFMaker(samples: 5, bits: 32, extras: [2, 0]),
        TIFFMaker(samples: 5, extras: [2, 0], isPlanar: true),
        TIFFMaker(samples: 5, bits: 16, extras: [2, 0], isPlanar: true, isTiled: true),
        TIFFMaker(samples: 5, extras: [2, 0], isTiled: true),
        TIFFMaker(samples: 5, bits: 16, extras: [2, 0], isBigEndian: true, stripRows: 7),
        TIFFMaker(samples: 5, extras: [2, 0], isBigTIFF: true),
        TIFFMaker(samples: 5, bits: 12, extras: [2, 0], isBigEndian: true),
    ])
    func `a channel beside colour and alpha is left out, and that is said`(maker: TIFFMaker) throws
    {
        let studio = try Studio()
        let found = try pixel(maker.bytes(Self.value), studio, notes: [Self.spare])
        expect(found, Self.rgb + [Self.alpha])
    }

    @Test(arguments: [8, 16, 32])
    func `premultiplied colours are divided by alpha`(bits: Int) throws {
        let studio = try Studio()
        let maker = TIFFMaker(samples: 5, bits: bits, extras: [1, 0])
        let bytes = maker.bytes { x, y, channel in
            Self.value(x, y, channel) * (channel < 3 ? Self.value(x, y, 3) : 1)
        }
        expect(
            try pixel(bytes, studio, notes: [Self.spare]), Self.rgb + [Self.alpha],
            within: bits == 8 ? 2 : 1)
    }

    @Test func `alpha may be any of several channels, and without one nothing is transparent`()
        throws
    {
        let studio = try Studio()
        let last = TIFFMaker(samples: 6, extras: [0, 0, 2]).bytes(Self.value)
        expect(try pixel(last, studio, notes: [Self.spares]), Self.rgb + [0.9])
        let none = TIFFMaker(samples: 5, extras: [0, 0]).bytes(Self.value)
        expect(try pixel(none, studio, notes: [Self.spares]), Self.rgb)
        // A single channel of unspecified purpose is alpha: older programs write it so.
        let single = TIFFMaker(samples: 4, extras: [0]).bytes(Self.value)
        expect(try pixel(single, studio), Self.rgb + [Self.alpha])
    }

    @Test(arguments: [(1, 8), (0, 8), (1, 16), (1, 32), (0, 6)])
    func `grey with alpha and another channel is grey`(photometric: Int, bits: Int) throws {
        let studio = try Studio()
        let maker = TIFFMaker(samples: 3, bits: bits, photometric: photometric, extras: [2, 0])
        let bytes = maker.bytes { Self.value($0, $1, [0, 3, 4][$2]) }
        let grey = photometric == 0 ? 1 - Self.rgb[0] : Self.rgb[0]
        expect(
            try pixel(bytes, studio, notes: [Self.spare]), [grey, grey, grey, Self.alpha],
            within: bits == 6 ? 3 : 1)
    }

    @Test(arguments: [2, 4, 6, 10, 12, 14, 16, 24, 32])
    func `samples have any number of bits`(bits: Int) throws {
        let studio = try Studio()
        for isPlanar in [false, true] {
            let maker = TIFFMaker(bits: bits, isPlanar: isPlanar)
            let step = 128 / (1 << bits)
            expect(try pixel(maker.bytes(Self.value), studio), Self.rgb, within: max(1, step + 1))
        }
    }

    @Test(arguments: [16, 32, 64])
    func `floating-point colours are linear light`(bits: Int) throws {
        let studio = try Studio()
        let maker = TIFFMaker(samples: 5, bits: bits, format: 3, extras: [1, 0])
        let bytes = maker.bytes { x, y, channel in
            guard channel < 3 else { return Self.value(x, y, channel) }
            return ToneCurve.sRGB.linear(Self.value(x, y, channel)) * Self.value(x, y, 3)
        }
        expect(try pixel(bytes, studio, notes: [Self.spare]), Self.rgb + [Self.alpha])
    }

    @Test(arguments: [16, 32, 64])
    func `floating-point grey, and colours with a profile, are codes from 0 to 1`(bits: Int) throws
    {
        let studio = try Studio()
        let grey = TIFFMaker(samples: 1, bits: bits, format: 3, photometric: 1).bytes(Self.value)
        expect(try pixel(grey, studio), [Double](repeating: Self.rgb[0], count: 3))
        let colour = TIFFMaker(
            bits: bits, format: 3, more: [(34_675, 7, OutputColour.sRGBProfile)])
        expect(try pixel(colour.bytes(Self.value), studio), Self.rgb)
    }

    @Test func `numbers that are none, and light beyond white, do no harm`() throws {
        let studio = try Studio()
        let maker = TIFFMaker(bits: 64, format: 3)
        let bytes = maker.bytes { _, _, channel in [.nan, .infinity, -5][channel] }
        expect(try pixel(bytes, studio), [0, 1, 0])
    }

    @Test(arguments: [8, 16])
    func `inks with further channels are inks`(bits: Int) throws {
        let studio = try Studio()
        let plain = TIFFMaker(samples: 4, bits: bits, photometric: 5)
        let expected = try pixel(plain.bytes(Self.value), studio)
        let more = TIFFMaker(samples: 6, bits: bits, photometric: 5, extras: [0, 0])
        #expect(try pixel(more.bytes(Self.value), studio, notes: [Self.spares]) == expected)
    }

    /// Numbers of L*a*b* (D50) for red 220, green 30, blue 30 by the matrices of the ICC's sRGB profile.
    @Test(arguments: [(8, 8), (8, 16), (9, 8), (9, 16), (8, 32)])
    func `CIELab and ICCLab are the same colours`(photometric: Int, bits: Int) throws {
        let studio = try Studio()
        let lab = [48.175, 69.179, 52.291]
        let maker = TIFFMaker(bits: bits, format: bits == 32 ? 3 : 1, photometric: photometric)
        let bytes = maker.bytes { _, _, channel in
            let number = lab[channel]
            if bits == 32 { return number }
            if photometric == 9 {
                return bits == 8
                    ? (channel == 0 ? number / 100 : (number + 128) / 255)
                    : (channel == 0
                        ? number / 100 * 65_280 / 65_535 : (number + 128) * 256 / 65_535)
            }
            return channel == 0 ? number / 100 : number * (bits == 8 ? 1 / 255 : 256.0 / 65_535)
        }
        expect(
            try pixel(bytes, studio), [220.0 / 255, 30.0 / 255, 30.0 / 255],
            within: bits == 8 ? 6 : 1)
    }

    /// The steps of chroma, 1 and 1, in the file's order.
    private static func plainChroma(_ isBigEndian: Bool) -> (tag: Int, type: Int, bytes: [UInt8]) {
        (530, 3, isBigEndian ? [0, 1, 0, 1] : [1, 0, 1, 0])
    }

    /// Codes of black and white of luma and of both chromas, as video has them.
    private static let ofVideo: (tag: Int, type: Int, bytes: [UInt8]) = (
        532, 5, [16, 235, 128, 240, 128, 240].flatMap { [$0, 0, 0, 0, 1, 0, 0, 0] }
    )

    @Test(arguments: [
        TIFFMaker(photometric: 6, more: [plainChroma(false)]),
        TIFFMaker(bits: 16, photometric: 6, more: [plainChroma(false)]),
        TIFFMaker(photometric: 6, isPlanar: true, more: [plainChroma(false)]),
        TIFFMaker(photometric: 6, isTiled: true, more: [plainChroma(false)]),
        TIFFMaker(photometric: 6, isBigEndian: true, stripRows: 7, more: [plainChroma(true)]),
        TIFFMaker(photometric: 6, more: [plainChroma(false), ofVideo]),
    ])
    func `luma and chroma without a JPEG are the colours that they mean`(maker: TIFFMaker) throws {
        let studio = try Studio()
        // Codes of red 220, green 30, blue 30 (BT.601), of 255, of those of video, and of 65,535.
        let whole: [Double] = [86.81, 95.94, 223.0]
        let ofVideo: [Double] = [90.56, 99.73, 211.78]
        let deep: [Double] = [22_310, 24_529, 57_183]
        let isOfVideo = maker.more.count > 1
        let codes = maker.bits == 16 ? deep : isOfVideo ? ofVideo : whole
        let most: Double = maker.bits == 16 ? 65_535 : 255
        let bytes = maker.bytes { _, _, channel in codes[channel] / most }
        expect(
            try pixel(bytes, studio), [220.0 / 255, 30.0 / 255, 30.0 / 255],
            within: maker.bits == 8 ? 2 : 1)
    }

    @Test(arguments: [TIFFMaker.Place.second, .below], [8, 16])
    func `the full picture is read where the first page is a smaller copy`(
        place: TIFFMaker.Place, bits: Int
    ) throws {
        let studio = try Studio()
        let maker = TIFFMaker(bits: bits, place: place)
        let note =
            place == .second
            ? "page 2 of 2 is read: the first is a smaller copy"
            : "the picture below the first page is read: that page is a smaller copy of it"
        expect(try pixel(maker.bytes(Self.value), studio, notes: [note]), Self.rgb)
    }

    @Test(arguments: [
        (TIFFMaker(bits: 16, format: 2), "signed numbers"),
        (TIFFMaker(samples: 5, photometric: 5, more: [(334, 3, [5, 0])]), "5 inks"),
        (TIFFMaker(bits: 64), "64 bits"), (TIFFMaker(bits: 8, format: 3), "floating-point"),
        (TIFFMaker(bits: 64, format: 6), "complex"),
        (TIFFMaker(samples: 5, extras: [0, 0], compression: 34_712), "compression 34712"),
        (TIFFMaker(photometric: 34), ""), (TIFFMaker(photometric: 6), "smaller than its luma"),
        (TIFFMaker(photometric: 10), "of kind 10"),
        (TIFFMaker(samples: 1, photometric: 4), "of kind 4"),
    ])
    func `a whole file of another kind is not called damaged`(maker: TIFFMaker, reason: String)
        throws
    {
        let studio = try Studio()
        let source = try studio.write(maker.bytes { _, _, _ in 0.5 }, as: "in.tif")
        do {
            _ = try studio.render(source, [Filter("CIColorInvert")], format: .png)
            #expect(reason.isEmpty)
        } catch let failure as Failure {
            #expect(failure.code == .unsupportedFormat, "\(failure)")
            #expect(failure.message.contains(reason), "\(failure)")
        }
    }

    @Test func `the metadata of such a TIFF is kept`() throws {
        let studio = try Studio()
        let xmp = Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"/></rdf:RDF></x:xmpmeta>
            """.utf8)
        let profile = [UInt8](
            try Data(contentsOf: URL(filePath: Studio.fixture("DisplayP3-v4.icc"))))
        let maker = TIFFMaker(
            samples: 5, bits: 16, extras: [0, 0],
            more: [
                (34_675, 7, profile), (700, 1, xmp), (274, 3, [6, 0]),
                (271, 2, Array("Maker\0".utf8)),
            ])
        let source = try studio.write(maker.bytes(Self.value), as: "in.tif")
        let report = try studio.render(source, [Filter("CIColorInvert")], format: .jpeg)
        #expect(report.output.size == PixelSize(width: 36, height: 40))
        let tags = try Exiftool.tags(of: studio.path(report.output.name), "-G1", "-n")
        #expect(tags["XMP-xmp:Rating"] == "4" && tags["IFD0:Make"] == "Maker")
        #expect(tags["IFD0:Orientation"] == "1")
        #expect(try PhotoFile(at: studio.path(report.output.name)).header().hasProfile)
    }

    @Test(arguments: [8, 16], [nil, 7])
    func `grey and alpha that are stored by themselves are what they are together`(
        bits: Int, stripRows: Int?
    ) throws {
        let studio = try Studio()
        var maker = TIFFMaker(samples: 2, bits: bits, photometric: 1, extras: [2])
        maker.stripRows = stripRows
        let filters = [try Filter("CIExposureAdjust", ["ev": 0.0001])]
        func pixels(_ name: String) throws -> [UInt8] {
            let value = { (x: Int, y: Int, channel: Int) in
                Self.value(x, y, channel == 0 ? 1 : 0)
            }
            return try studio.pixels(
                of: studio.write(maker.bytes(value), as: name), filters, stem: name
            ).bytes
        }
        let together = try pixels("together.tif")
        maker.isPlanar = true
        #expect(try pixels("apart.tif") == together)
    }

    private static let xmp = Array(
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
        <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"/></rdf:RDF></x:xmpmeta>
        """.utf8)

    @Test(arguments: [TIFFMaker.Place.second, .below])
    func `metadata of the first page belong to the picture behind it`(place: TIFFMaker.Place) throws
    {
        let studio = try Studio()
        let iptc: [UInt8] = [0x1C, 2, 5, 0, 6] + Array("Tulips".utf8)
        let maker = TIFFMaker(
            place: place,
            moreOfCopy: [
                (700, 1, Self.xmp), (33_723, 7, iptc), (271, 2, Array("Epson\0".utf8)),
                (274, 3, [6, 0]),
            ])
        let source = try studio.write(maker.bytes(Self.value), as: "in.tif")
        #expect(try PhotoFile(at: source).format == .tiff, "a scanner's preview is no RAW")
        let report = try studio.render(source, [Filter("CIColorInvert")], format: .jpeg)
        #expect(report.output.size == PixelSize(width: 36, height: 40))
        let tags = try Exiftool.tags(of: studio.path(report.output.name), "-G1", "-n")
        #expect(tags["XMP-xmp:Rating"] == "4" && tags["IFD0:Make"] == "Epson")
        #expect(tags["IPTC:ObjectName"] == "Tulips" && tags["IFD0:Orientation"] == "1")
    }

    @Test func `a sensor's samples below a preview are a RAW`() throws {
        let studio = try Studio()
        let make = (271, 2, Array("NIKON\0".utf8))
        for maker in [
            TIFFMaker(samples: 1, photometric: 32_803, place: .below, moreOfCopy: [make]),
            TIFFMaker(
                samples: 1, photometric: 1, compression: 34_713, place: .below, moreOfCopy: [make]),
        ] {
            let path = try studio.write(maker.bytes { _, _, _ in 0.5 }, as: "in.nef")
            #expect(try PhotoFile(at: path).format == .raw)
        }
    }

    @Test func `a picture below the first page that is no smaller copy is left out by name`() throws
    {
        let studio = try Studio()
        let maker = TIFFMaker(place: .below, saysCopy: false)
        let source = try studio.write(maker.bytes(Self.value), as: "in.tif")
        let report = try studio.render(source, [Filter("CIColorInvert")])
        #expect(report.output.size == PixelSize(width: 8, height: 8))
        #expect(report.plan.leftOut == [.otherPictures])
    }

    /// An uncompressed TIFF of RGB in tiles of 16 × 16, each plane's after the other's.
    private func file(_ codes: [UInt8], _ width: Int, _ height: Int, bits: Int) -> [UInt8] {
        let (across, down) = ((width + 15) / 16, (height + 15) / 16)
        let tileBytes = 256 * bits / 8
        var data: [UInt8] = []
        for plane in 0..<3 {
            for tile in 0..<across * down {
                for pixel in 0..<256 {
                    let x = tile % across * 16 + pixel % 16
                    let y = tile / across * 16 + pixel / 16
                    let code = x < width && y < height ? codes[(y * width + x) * 3 + plane] : 77
                    // 16 bits: the code twice, so that 255 is 65,535.
                    data += [UInt8](repeating: code, count: bits / 8)
                }
            }
        }
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let tiles = 3 * across * down
        let listsStart = 8 + data.count
        let offsets = (0..<tiles).flatMap { number(8 + $0 * tileBytes, 4) }
        let counts = (0..<tiles).flatMap { _ in number(tileBytes, 4) }
        let bitsOffset = listsStart + offsets.count + counts.count
        let start = bitsOffset + 6
        let entries = [
            (256, 4, 1, width), (257, 4, 1, height), (258, 3, 3, bitsOffset), (259, 3, 1, 1),
            (262, 3, 1, 2), (277, 3, 1, 3), (284, 3, 1, 2), (322, 4, 1, 16), (323, 4, 1, 16),
            (324, 4, tiles, listsStart), (325, 4, tiles, listsStart + offsets.count),
        ]
        return Array("II".utf8) + number(42, 2) + number(start, 4) + data + offsets + counts
            + (0..<3).flatMap { _ in number(bits, 2) } + number(entries.count, 2)
            + entries.flatMap {
                number($0.0, 2) + number($0.1, 2) + number($0.2, 4) + number($0.3, 4)
            } + number(0, 4)
    }

    @Test(arguments: [8, 16], [1, 4])
    func `one with a channel in each tile is read to the last pixel`(bits: Int, threads: Int) throws
    {
        let studio = try Studio()
        let (width, height) = (61, 83)
        let codes = TestPicture.codes(width: width, height: height)
        let source = try studio.write(file(codes, width, height, bits: bits), as: "in.tif")
        try TestPicture.image(width: width, height: height).writePNG(to: studio.path("plain.png"))
        let invert = try Filter("CIColorInvert")
        for filters in [[invert], [try Filter("turn"), invert]] {
            let expected = try studio.render(
                studio.path("plain.png"), filters, format: .png, stem: "expected")
            let report = try studio.render(
                source, filters, output: .init(format: .png, bitDepth: .eight), threads: threads)
            #expect(report.header.bitsPerSample == bits)
            let difference = try Picture(studio.path(report.output.name)).difference(
                from: Picture(studio.path(expected.output.name)))
            #expect(difference.max <= (bits == 8 ? 0 : 1))
        }
    }

    @Test func `one that is cut off is damaged`() throws {
        let studio = try Studio()
        var bytes = file(TestPicture.codes(width: 61, height: 83), 61, 83, bits: 8)
        // The offset of the last tile leads behind the end.
        let lists = bytes.count - (2 + 11 * 12 + 4) - 6 - 8 * 3 * 24
        let last = lists + 4 * (3 * 24 - 1)
        bytes.replaceSubrange(last..<last + 4, with: [0, 0, 0, 0x10])
        let source = try studio.write(bytes, as: "in.tif")
        let failure = #expect(throws: Failure.self) {
            try studio.render(source, [Filter("CIColorInvert")], format: .png)
        }
        #expect(failure?.code == .damagedPhoto, "\(String(describing: failure))")
    }
}
