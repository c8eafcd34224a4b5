import Edits
import Foundation
import PhotoFiles
import RenderProtocol
import Testing

@testable import Rendering
@testable import Codecs

/// What is written is read again by libvips' loaders and judged by our own header.
@Suite("Formats") struct FormatTests {
    /// 16-bit RGB with alpha, smooth so that lossy formats can be compared.
    private func deepSource(_ studio: Studio) throws -> String {
        var codes: [UInt16] = []
        for y in 0..<48 {
            for x in 0..<64 {
                codes += [
                    UInt16(x * 1_000 + 500), UInt16(y * 1_300 + 77), UInt16((x + y) * 550 + 3),
                    UInt16(30_000 + x * 500),
                ]
            }
        }
        let bytes = codes.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        try VipsLibrary.start()
        try Image.fromPixels(
            bytes, width: 64, height: 48, bands: 4, format: .ushort, interpretation: "rgb16"
        ).writePNG(to: studio.path("deep.png"))
        return studio.path("deep.png")
    }

    private func header(_ path: String) throws -> PhotoHeader { try PhotoFile(at: path).header() }

    /// Bits, greatest mean error of the codes as a share of white, alpha.
    @Test(arguments: [
        (Recipe.Format.jpeg, 8, 0.02), (.png, 16, 0.00002), (.tiff, 16, 0.00002), (.webp, 8, 0.03),
        (.heic, 16, 0.02), (.avif, 16, 0.02), (.jxl, 16, 0.02),
    ])
    func `a deep photo with alpha keeps what the format can keep`(
        format: Recipe.Format, bits: Int, error: Double
    ) throws {
        let studio = try Studio()
        let source = try deepSource(studio)
        let filters = [try Filter("CIColorInvert")]
        let exact = try studio.render(source, filters, format: .png, stem: "exact")
        let report = try studio.render(source, filters, format: format, quality: 0.95)
        let path = studio.path(report.output.name)
        let header = try header(path)
        #expect(
            header.format.rawValue
                == (["heic", "avif"].contains(format.rawValue) ? "heif" : format.rawValue))
        #expect(report.output.name == "out." + format.fileExtension)
        #expect(report.output.mediaType == format.mediaType)
        #expect(header.storedSize == PixelSize(width: 64, height: 48))
        #expect(header.bitsPerSample == bits)
        #expect(header.hasAlpha == (format != .jpeg))
        // Where there is alpha, colours are those of the exact result.
        if format != .jpeg {
            let loader = try #require(header.format.loader)
            let image = try Image.open(path, loader: loader, streaming: false, failOn: .error)
            let expected = try Picture(studio.path(exact.output.name)).image
            func shares(_ image: Image) throws -> [Double] {
                let bytes = try image.pixels()
                return image.format == .uchar
                    ? bytes.map { Double($0) / 255 }
                    : stride(from: 0, to: bytes.count, by: 2).map {
                        Double(Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8) / 65_535
                    }
            }
            let pairs = zip(try shares(image), try shares(expected))
            let sum = pairs.reduce(0) { $0 + abs($1.0 - $1.1) }
            #expect(sum / Double(64 * 48 * 4) < error)
        }
    }

    @Test(arguments: [
        (Recipe.Format.heic, Recipe.BitDepth.ten), (.heic, .twelve), (.avif, .twelve),
        (.heic, .eight), (.avif, .eight), (.png, .eight), (.tiff, .eight), (.jxl, .eight),
    ])
    func `the bits that are asked for are written`(format: Recipe.Format, bits: Recipe.BitDepth)
        throws
    {
        let studio = try Studio()
        let report = try studio.render(
            try deepSource(studio), [Filter("CIColorInvert")],
            output: .init(format: format, bitDepth: bits))
        #expect(report.plan.output.bitDepth == bits)
        let path = studio.path(report.output.name)
        #expect(try header(path).bitsPerSample == (bits == .eight ? 8 : 16))
        if format == .heic || format == .avif {
            let depth = try Exiftool.tags(of: path, "-ImagePixelDepth")["ImagePixelDepth"]
            #expect(depth?.split(separator: " ").first == "\(bits.rawValue)")
        }
    }

    // MARK: JPEG

    @Test(arguments: [Image.ChromaSubsampling.on, .off])
    func `a JPEG keeps as much detail of colour as its original`(chroma: Image.ChromaSubsampling)
        throws
    {
        let studio = try Studio()
        try TestPicture.image(width: 64, height: 48).writeJPEG(
            to: studio.path("in.jpg"), quality: 80, chroma: chroma)
        let kept = try studio.render(studio.path("in.jpg"), [Filter("CIColorInvert")])
        #expect(try header(studio.path("out.jpg")).chroma == (chroma == .on ? .half : .full))
        #expect(kept.header.chroma == kept.plan.output.chroma)
        for asked in [Recipe.Chroma.full, .half] {
            _ = try studio.render(
                studio.path("in.jpg"), [Filter("CIColorInvert")], output: .init(chroma: asked))
            #expect(try header(studio.path("out.jpg")).chroma == asked)
        }
    }

    @Test(arguments: [true, false])
    func `JPEG and PNG are progressive when that is asked for`(_ progressive: Bool) throws {
        let studio = try Studio()
        try TestPicture.image(width: 64, height: 48).writePNG(to: studio.path("in.png"))
        for format in [Recipe.Format.jpeg, .png] {
            let report = try studio.render(
                studio.path("in.png"), [Filter("CIColorInvert")],
                output: .init(format: format, progressive: progressive))
            let bytes = [UInt8](
                try Data(contentsOf: URL(filePath: studio.path(report.output.name))))
            // Start of frame 2 in a JPEG; the interlace byte of IHDR in a PNG.
            let isProgressive =
                format == .jpeg ? Data(bytes).range(of: Data([0xFF, 0xC2])) != nil : bytes[28] == 1
            #expect(isProgressive == progressive)
        }
    }

    @Test(arguments: [
        (Recipe.Background?.none, [255, 255, 255]),
        (.init(red: 1, green: 0.5, blue: 0), [255, 128, 0]),
    ])
    func `what is transparent is laid on the background`(
        background: Recipe.Background?, expected: [Int]
    ) throws {
        let studio = try Studio()
        let clear = [UInt8](repeating: 0, count: 16 * 16 * 4)
        try VipsLibrary.start()
        try Image.fromPixels(clear, width: 16, height: 16, bands: 4).writePNG(
            to: studio.path("in.png"))
        _ = try studio.render(
            studio.path("in.png"), [Filter("CISepiaTone")],
            output: .init(format: .jpeg, quality: 1, background: background))
        let pixel = try Picture(studio.path("out.jpg")).pixel(8, 8)
        #expect(zip(pixel, expected).allSatisfy { abs($0 - $1) <= 2 }, "\(pixel)")
    }

    /// libjxl writes a container for 16 bits with alpha.
    @Test func `a deep JPEG XL with alpha keeps metadata`() throws {
        let studio = try Studio()
        let exif = [UInt8](try Data(contentsOf: URL(filePath: Studio.fixture("IMG_1064.exif"))))
        let bytes = [UInt16](repeating: 30_000, count: 32 * 16 * 4).flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)]
        }
        try VipsLibrary.start()
        try Image.fromPixels(
            bytes, width: 32, height: 16, bands: 4, format: .ushort, interpretation: "rgb16"
        ).writePNG(to: studio.path("plain.png"))
        var file = [UInt8](try Data(contentsOf: URL(filePath: studio.path("plain.png"))))
        file.insert(contentsOf: PNGChunk.bytes("eXIf", Array(exif.dropFirst(6))), at: 33)
        let source = try studio.write(file, as: "in.png")
        let report = try studio.render(source, [Filter("CIColorInvert")], format: .jxl)
        let path = studio.path(report.output.name)
        let tags = try Exiftool.tags(of: path, "-G1", "-n")
        #expect(tags["IFD0:Model"] == "iPhone 6s")
        #expect(tags["ExifTool:Warning"] == nil, "\(tags["ExifTool:Warning"] ?? "")")
        #expect(try header(path).hasAlpha && header(path).bitsPerSample == 16)
        // And it is read again.
        _ = try studio.render(path, [Filter("CIColorInvert")], format: .png, stem: "again")
        #expect(try Picture(studio.path("again.png")).width == report.output.size.width)
    }

    // MARK: JPEG with warnings, and of 12 bits

    /// JFIF of version 7.
    private static let futureJFIF: [UInt8] =
        [0xFF, 0xE0, 0, 16] + Array("JFIF\0".utf8) + [7, 1, 0, 0, 1, 0, 1, 0, 0]

    /// In planes, from the top, and in any order.
    @Test(arguments: ["CISepiaTone", "CIGaussianBlur", "turn"], ["Se", "JFIF", "end", "tail"])
    func `a JPEG with a harmless mistake is rendered like one without`(
        filter: String, mistake: String
    ) throws {
        let studio = try Studio()
        try TestPicture.image(width: 77, height: 51).writeJPEG(
            to: studio.path("a.jpg"), quality: 90, chroma: .on)
        var bytes = try Picture.file(studio.path("a.jpg"))
        let data = Data(bytes)
        switch mistake {
        case "Se":
            let scan = try #require(data.range(of: Data([0xFF, 0xDA, 0, 12, 3]))).lowerBound
            bytes[scan + 12] = 0
        case "JFIF": bytes.insert(contentsOf: Self.futureJFIF, at: 2)
        case "tail": bytes += [UInt8](repeating: 1, count: 9_000)
        default: bytes.removeLast(2)
        }
        let source = try studio.write(bytes, as: "b.jpg")
        let filters = [try Filter(filter)]
        let plain = try studio.render(studio.path("a.jpg"), filters, format: .jpeg, stem: "plain")
        let report = try studio.render(source, filters, format: .jpeg, stem: "mistaken")
        #expect(report.output.digest == plain.output.digest)
        let note =
            "the file ends without its end marker (EOI); it is rendered if all of its pixels are there"
        #expect(report.plan.notes.contains(note) == (mistake == "end"))
        let small = try studio.render(
            source, Recipe(filters: filters, output: .init(format: .jpeg)), stem: "small",
            longestSide: 40)
        #expect(small.output.size.width <= 40)
    }

    /// A harmless mistake at the top does not make damage further down harmless.
    @Test(arguments: ["CISepiaTone", "CIGaussianBlur"])
    func `damage behind a harmless mistake is damage`(filter: String) throws {
        let studio = try Studio()
        try TestPicture.image(width: 200, height: 150).writeJPEG(
            to: studio.path("a.jpg"), quality: 90, chroma: .on)
        var bytes = try Picture.file(studio.path("a.jpg"))
        bytes.insert(contentsOf: Self.futureJFIF, at: 2)
        for index in bytes.count / 2..<bytes.count / 2 + 300 { bytes[index] = 0xFE }
        let source = try studio.write(bytes, as: "b.jpg")
        let failure = #expect(throws: Failure.self) { try studio.render(source, [Filter(filter)]) }
        #expect(failure?.code == .damagedPhoto)
    }

    @Test(arguments: [false, true])
    func `inks of a JPEG are read as by libvips`(isAdobe: Bool) throws {
        let studio = try Studio()
        try VipsLibrary.start()
        let codes = TestPicture.codes(width: 61, height: 43, bands: 4)
        try Image.fromPixels(codes, width: 61, height: 43, bands: 4, interpretation: "cmyk")
            .writeJPEG(to: studio.path("a.jpg"), quality: 90, chroma: .off)
        var bytes = try Picture.file(studio.path("a.jpg"))
        if !isAdobe {
            let adobe = try #require(Data(bytes).range(of: Data("Adobe".utf8))).lowerBound
            bytes[adobe] = 0x61
        }
        let path = try studio.write(bytes, as: "b.jpg")
        let expected = try Image.open(path, loader: "jpegload", streaming: true, failOn: .error)
        let found = try PhotoFile(at: path).image(failOn: .warning)
        #expect(try found.pixels() == expected.pixels())
        #expect(found.interpretation == expected.interpretation)
    }

    /// Ramps of 12 bits: red by columns, green by rows.
    @Test(arguments: ["deep-444.jpg", "deep-420.jpg", "deep-grey.jpg"])
    func `a JPEG of 12 bits a sample keeps them`(name: String) throws {
        let studio = try Studio()
        let report = try studio.render(
            Studio.fixture(name), [Filter("CIExposureAdjust", ["ev": 0.000001])], format: .png)
        #expect(report.header.bitsPerSample == 16)
        let picture = try Picture(studio.path("out.png"))
        func code(_ x: Int, _ y: Int, _ band: Int) -> Int {
            let index = 2 * ((y * picture.width + x) * picture.bands + band)
            return Int(picture.bytes[index]) | Int(picture.bytes[index + 1]) << 8
        }
        for (x, y) in [(20, 20), (30, 90), (150, 50)] {
            #expect(abs(code(x, y, 0) - x * 65_535 / 159) < 600, "\(x), \(y)")
            guard name != "deep-grey.jpg" else { continue }
            #expect(abs(code(x, y, 1) - y * 65_535 / 99) < 600, "\(x), \(y)")
        }
        // Steps of 16 between neighbours, which 8 bits do not have.
        #expect(Set((0..<picture.width).map { code($0, 50, 0) / 257 }).count > 100)
        _ = try studio.render(
            Studio.fixture(name), Recipe(filters: [], output: .init(format: .jpeg)), stem: "small",
            longestSide: 80)
    }

    @Test func `one of 12 bits that is cut off is damaged, and other kinds are named`() throws {
        let studio = try Studio()
        let bytes = try Picture.file(Studio.fixture("deep-444.jpg"))
        func failure(_ bytes: [UInt8]) throws -> Failure? {
            let source = try studio.write(bytes, as: "in.jpg")
            return #expect(throws: Failure.self) {
                try studio.render(source, [Filter("CIColorInvert")], format: .png)
            }
        }
        #expect(try failure(Array(bytes.prefix(bytes.count / 2)))?.code == .damagedPhoto)
        let frame = try #require(Data(bytes).range(of: Data([0xFF, 0xC1]))).lowerBound
        for (code, bits, name) in [
            (0xC3, 14, "lossless JPEG of 14 bits"), (0xC5, 8, "hierarchical"),
            (0xC1, 10, "10 bits"),
        ] as [(UInt8, UInt8, String)] {
            var other = bytes
            (other[frame + 1], other[frame + 4]) = (code, bits)
            let found = try failure(other)
            #expect(found?.code == .unsupportedFormat)
            #expect(found?.message.contains(name) == true, "\(found?.message ?? "")")
        }
    }

    // MARK: Kinds of originals

    private func save(
        _ image: Image, _ saver: String, _ path: String, _ more: [(String, Codecs.Operation.Value)]
    )
        throws
    {
        try Codecs.Operation.perform(
            saver, [("in", .image(image)), ("filename", .string(path))] + more)
    }

    @Test(arguments: [
        (
            "tiled",
            [
                ("tile", Codecs.Operation.Value.bool(true)), ("tile_width", .int(16)),
                ("tile_height", .int(16)),
            ]
        ),
        ("big", [("bigtiff", .bool(true))]), ("LZW", [("compression", .string("lzw"))]),
        ("pyramid", [("tile", .bool(true)), ("pyramid", .bool(true))]),
    ])
    func `TIFFs of many kinds are read to the last pixel`(
        name: String, options: [(String, Codecs.Operation.Value)]
    ) throws {
        let studio = try Studio()
        let picture = try TestPicture.image(width: 61, height: 43)
        try picture.writePNG(to: studio.path("plain.png"))
        try save(picture, "tiffsave", studio.path("in.tif"), options)
        let filters = [try Filter("CIColorInvert")]
        let expected = try studio.pixels(of: studio.path("plain.png"), filters, stem: "expected")
        let got = try studio.pixels(of: studio.path("in.tif"), filters)
        #expect(got.bytes == expected.bytes)
    }

    @Test func `a TIFF of floating point is linear light and becomes 16 bit`() throws {
        let studio = try Studio()
        try VipsLibrary.start()
        let linear = try TestPicture.image(width: 40, height: 30).converted(to: "scrgb")
        try TestPicture.image(width: 40, height: 30).writePNG(to: studio.path("plain.png"))
        try save(linear, "tiffsave", studio.path("in.tif"), [])
        let report = try studio.render(
            studio.path("in.tif"), [Filter("CIColorInvert")],
            output: .init(format: .png, bitDepth: .eight))
        #expect(report.header.bitsPerSample == 16)
        let expected = try studio.pixels(
            of: studio.path("plain.png"), [Filter("CIColorInvert")], stem: "expected")
        #expect(try Picture(studio.path("out.png")).difference(from: expected).max <= 1)
    }

    @Test(arguments: [
        ("tiffsave", "in.tif", "pages"), ("gifsave", "in.gif", "frames"),
        ("webpsave", "in.webp", "frames"),
    ])
    func `of several pages or frames the first is read, and that is said`(
        saver: String, name: String, parts: String
    ) throws {
        let studio = try Studio()
        let pages = try TestPicture.image(width: 32, height: 60)
        try save(pages, saver, studio.path(name), [("page_height", .int(20))])
        let report = try studio.render(studio.path(name), [Filter("CIColorInvert")], format: .png)
        #expect(report.output.size == PixelSize(width: 32, height: 20))
        #expect(report.header.notes == ["the first of 3 \(parts) is read"])
        #expect(report.plan.description.contains("note: the first of 3 \(parts) is read"))
    }

    @Test(
        arguments: [
            ([0xFF, 0x0A, 0, 0], PhotoFormat.jxl),
            (
                [0, 0, 0, 12] + Array("JXL \r\n\u{87}\n".unicodeScalars.map { UInt8($0.value) }),
                .jxl
            ),
            (Array("II*\0\u{10}\0\0\0CR\u{2}\0".utf8), .raw),
            (Array("\0\0\0\u{18}ftypcrx ".utf8), .raw),
            (Array("FUJIFILMCCD-RAW ".utf8), .raw), (Array("IIU\0\u{18}\0\0\0".utf8), .raw),
            (Array("IIRO\u{8}\0\0\0".utf8), .raw), (Array("II*\0\u{8}\0\0\0".utf8), .tiff),
            (Array("II+\0\u{8}\0\0\0".utf8), .tiff), (Array("RIFF\0\0\0\0WEBPVP8 ".utf8), .webp),
            (Array("RIFF\0\0\0\0WAVEfmt ".utf8), nil), (Array("<svg xmlns=".utf8), nil),
            (Array("%PDF-1.7".utf8), nil), (Array("\0\0\0\u{18}ftypmp42".utf8), .movie),
            (Array("\0\0\0\u{18}ftypavis".utf8), .heif),
        ] as [([UInt8], PhotoFormat?)])
    func `the first bytes tell the format`(_ head: [UInt8], _ format: PhotoFormat?) {
        #expect(PhotoFormat(sniffing: head) == format)
    }

    /// The messages of libheif for photos of an iPhone 15 with iOS 18, and for a codec that it has not.
    @Test(arguments: [
        "heif: Invalid input: Unspecified: Metadata not correctly assigned to image (2.0)",
        "heif: Invalid input: Unspecified: Too many auxiliary image references (2.0)",
        "heif: Unsupported feature: Unsupported codec (4.3000)",
    ])
    func `what libheif is too old for is permanent and says what to do`(_ text: String) {
        let code = Failure.code(operation: "heifload", text: text)
        #expect(code == .unsupportedFormat && code.isPermanent)
    }

    /// EXIF belongs to two pictures here, as in photos of an iPhone 15 with iOS 18, which is well; made
    /// by two bytes taken from the list of its tiles, which is not.
    @Test func `a HEIC that names a tile too few is damaged, and says so`() throws {
        let studio = try Studio()
        var file = try Data(contentsOf: URL(filePath: Studio.fixture("arrow.heic")))
        let tiles = try #require(file.range(of: Data("dimg".utf8))).lowerBound
        let exif = try #require(file.range(of: Data("cdsc".utf8))).lowerBound
        // A reference: length, name, from, count, to …; each number but the length has two bytes.
        file[tiles - 1] -= 2
        file[tiles + 7] -= 1
        file[exif - 1] += 2
        file[exif + 7] = 2
        let end = tiles - 4 + Int(file[tiles - 1])
        file.removeSubrange(end..<end + 2)
        file.insert(contentsOf: [0, 1], at: exif - 2 + 10)
        let path = try studio.write([UInt8](file), as: "iphone15.heic")
        let failure = #expect(throws: Failure.self) {
            try studio.render(path, [Filter("CISepiaTone")])
        }
        #expect(failure?.code == .damagedPhoto, "\(String(describing: failure))")
        #expect(failure?.message.contains("a grid of 8 × 6 tiles names 47") == true)
    }

    /// The encoder speaks last, but the decoder is to blame.
    @Test(arguments: Recipe.Format.photos)
    func `a photo that is cut off is damaged, whatever it is to become`(format: Recipe.Format)
        throws
    {
        let studio = try Studio()
        let picture = try TestPicture.image(width: 200, height: 150)
        try picture.writeJPEG(to: studio.path("a.jpg"), quality: 90, chroma: .on)
        try picture.writePNG(to: studio.path("a.png"))
        try picture.writePNG(to: studio.path("b.png"), progressive: true)
        try picture.writeJXL(to: studio.path("a.jxl"), quality: 90)
        for name in ["a.jpg", "a.png", "b.png", "a.jxl"] {
            let whole = [UInt8](try Data(contentsOf: URL(filePath: studio.path(name))))
            let source = try studio.write(Array(whole.prefix(whole.count / 2)), as: "cut-" + name)
            let failure = #expect(throws: Failure.self) {
                try studio.render(source, [Filter("CISepiaTone")], format: format)
            }
            #expect(failure?.code == .damagedPhoto, "\(name): \(String(describing: failure))")
        }
    }

    @Test func `an encoder that fails is no fault of the photo`() {
        let text = "heif: Encoder plugin generated an error: Unspecified (9.0)"
        #expect(Failure.code(operation: "heifsave", text: text) == .internalError)
        #expect(Failure.code(operation: "jxlsave", text: "JxlEncoder failed") == .internalError)
        let writer = "heif: heif_writer callback returned a null error text (5.2001)"
        #expect(
            Failure.code(operation: "heifsave", text: writer, format: .heif) == .internalError)
        // The messages of the library of another format than the photo's are the saver's.
        let cut = "webp: unable to parse image"
        #expect(Failure.code(operation: "webpsave", text: cut, format: .jpeg) == .internalError)
        #expect(Failure.code(operation: "webpsave", text: cut, format: .webp) == .damagedPhoto)
    }

    // MARK: What a format cannot do

    @Test(arguments: [
        (Recipe.Output(format: .jpeg, bitDepth: .sixteen), "bitDepth is 16"),
        (.init(format: .avif, bitDepth: .sixteen), "8 or 10 or 12"),
        (.init(format: .png, bitDepth: .ten), "8 or 16"),
        (.init(format: .webp, bitDepth: .sixteen), "bitDepth is 16"),
        (.init(format: .jpeg, chroma: .halfColumns), "4:4:4 or 4:2:0"),
        (.init(format: .webp, chroma: .full), "chroma is 4:4:4"),
        (.init(format: .png, chroma: .half), "chroma is 4:2:0"),
        (.init(format: .heic, progressive: true), "progressive is true"),
        (
            .init(format: .jpeg, compression: .fast),
            "compression is fast, but the quality sets the size of a jpeg"
        ),
        (.init(format: .png, compression: .uncompressed), "fast or small"),
    ])
    func `what a format cannot do is refused before a pixel is read`(
        output: Recipe.Output, text: String
    ) throws {
        let header = PhotoHeader(
            format: .jpeg, storedSize: PixelSize(width: 60, height: 40), orientation: 1, bands: 3,
            bitsPerSample: 8, hasAlpha: false, hasProfile: false)
        let failure = #expect(throws: Failure.self) {
            try Planner.output(output, for: header, size: header.uprightSize, hasAlpha: false)
        }
        #expect(failure?.code == .invalidValue)
        #expect(failure?.message.contains(text) == true, "\(failure?.message ?? "")")
    }
}
