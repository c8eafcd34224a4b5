import Edits
import Files
import Foundation
import MinilabTesting
import PhotoFiles
import Testing

@testable import Rendering
@testable import Codecs

/// libvips' decoders (libpng, libtiff) read to the last bit what our encoders write, and exiftool describes it.
@Suite("PNG and TIFF by rows") struct RowEncoderTests {
    private static let sizes = [(1, 1), (3, 7), (61, 43), (2, 900), (12_000, 3)]
    private static let kinds = [(3, 8), (4, 8), (3, 16), (4, 16)]

    private func picture(
        _ size: (Int, Int), _ kind: (bands: Int, bits: Int), _ random: inout SeededGenerator
    ) throws -> Image {
        try VipsLibrary.start()
        let (width, height) = size
        // A ramp with noise: neighbours differ a little, and at the ends of the range by all of it.
        let codes = TestPicture.codes(
            width: width, height: height, bands: kind.bands, seed: random.next())
        let isDeep = kind.bits == 16
        let bytes =
            isDeep ? codes.flatMap { [UInt8.random(in: 0...255, using: &random), $0] } : codes
        return try Image.fromPixels(
            bytes, width: width, height: height, bands: kind.bands,
            format: isDeep ? .ushort : .uchar, interpretation: isDeep ? "rgb16" : "srgb")
    }

    private func check(_ path: String, _ loader: String, is image: Image) throws {
        let read = try Image.open(path, loader: loader, streaming: false, failOn: .warning)
        #expect(read.width == image.width && read.height == image.height)
        #expect(read.bands == image.bands && read.format == image.format)
        #expect(read.interpretation == image.interpretation)
        #expect(try read.pixels() == image.pixels())
    }

    @Test(arguments: kinds)
    func `a PNG is read as it was`(kind: (bands: Int, bits: Int)) throws {
        var random = SeededGenerator()
        random.printSeed()
        let studio = try Studio()
        let path = studio.path("out.png")
        try VipsTurn.shared {
            for size in Self.sizes {
                let image = try picture(size, kind, &random)
                try image.encode(
                    by: PNGEncoder(
                        EncodedShape(image),
                        PNGMetadata(profile: nil, exif: nil, xmp: nil, texts: []),
                        to: OpenFile(writing: path)))
                try check(path, "pngload", is: image)
            }
        }
    }

    @Test(arguments: [
        (Double.infinity, Int(Int32.max)), (-.infinity, 0), (.nan, 0), (1e30, Int(Int32.max)),
        (-5, 0),
        (169_093_200, Int(Int32.max)), (2.835, 2835), (2_147_483.647, Int(Int32.max)),
    ])
    func `any resolution is written, as near as a PNG can say it`(
        perMillimetre: Double, perMetre: Int
    ) throws {
        let studio = try Studio()
        let path = studio.path("out.png")
        try VipsTurn.shared {
            let image = try TestPicture.image(width: 4, height: 4)
            var shape = EncodedShape(image)
            shape.resolution = (x: perMillimetre, y: 1)
            try image.encode(
                by: PNGEncoder(
                    shape, PNGMetadata(profile: nil, exif: nil, xmp: nil, texts: []),
                    to: OpenFile(writing: path)))
        }
        let tags = try Exiftool.tags(of: path, "-n")
        #expect(tags["PixelsPerUnitX"] == "\(perMetre)")
        #expect(tags["PixelsPerUnitY"] == "1000")
    }

    @Test(arguments: kinds, [nil, 1, 6] as [Int?])
    func `a TIFF is read as it was`(kind: (bands: Int, bits: Int), level: Int?) throws {
        var random = SeededGenerator()
        random.printSeed()
        let studio = try Studio()
        let path = studio.path("out.tif")
        try VipsTurn.shared {
            for size in Self.sizes {
                for bigTIFFBytes in [0, .max] {
                    let image = try picture(size, kind, &random)
                    try image.encode(
                        by: TIFFEncoder(
                            EncodedShape(image), TIFFMetadata(profile: nil, xmp: nil),
                            level: level, to: OpenFile(writing: path), bigTIFFBytes: bigTIFFBytes))
                    try check(path, "tiffload", is: image)
                    let head = try OpenFile(reading: path).bytes(from: 0, count: 4)
                    #expect(head == Array("II".utf8) + [bigTIFFBytes == 0 ? 43 : 42, 0])
                }
            }
        }
    }

    @Test func `exiftool finds nothing wrong with a TIFF, and the resolution that it had`() throws {
        let studio = try Studio()
        let path = studio.path("out.tif")
        try VipsTurn.shared {
            let image = try TestPicture.image(width: 61, height: 43)
            var shape = EncodedShape(image)
            shape.resolution = (x: 11.811, y: 2.5)
            try image.encode(
                by: TIFFEncoder(
                    shape, TIFFMetadata(profile: nil, xmp: nil), level: 1,
                    to: OpenFile(writing: path)))
        }
        // It knows Adobe's compression 8 and calls it invalid all the same.
        let warnings = try Exiftool.tags(of: path, "-validate", "-warning")["Warning"]
        #expect(warnings == "Invalid value for IFD0 tag 0x0103 Compression")
        let tags = try Exiftool.tags(of: path, "-G1", "-n")
        #expect(tags["IFD0:XResolution"]?.hasPrefix("118.11") == true)
        #expect(tags["IFD0:YResolution"] == "25" && tags["IFD0:ResolutionUnit"] == "3")
        #expect(tags["IFD0:Compression"] == "8" && tags["IFD0:Predictor"] == "2")
    }

    @Test(arguments: ["Cafe", "Café 日本"])
    func `texts of a PNG are kept`(text: String) throws {
        let studio = try Studio()
        let path = studio.path("in.png")
        try VipsTurn.shared {
            let image = try TestPicture.image(width: 16, height: 16)
            try image.encode(
                by: PNGEncoder(
                    EncodedShape(image),
                    PNGMetadata(profile: nil, exif: nil, xmp: nil, texts: [("Author", text)]),
                    to: OpenFile(writing: path)))
        }
        _ = try studio.render(path, [Filter("CIColorInvert")], format: .png)
        #expect(try Exiftool.tags(of: studio.path("out.png"))["Author"] == text)
        _ = try studio.render(
            path, [Filter("CIColorInvert")], output: .init(format: .png, strip: .all))
        #expect(try Exiftool.tags(of: studio.path("out.png"))["Author"] == nil)
    }

    /// By our encoder, and by libvips, which makes up EXIF from 8.15 on.
    @Test(arguments: [Recipe.Compression.fast, .small], [false, true])
    func `a PNG of a photo without EXIF has none`(
        compression: Recipe.Compression, progressive: Bool
    ) throws {
        let studio = try Studio()
        let path = studio.path("in.png")
        try TestPicture.image(width: 16, height: 16).writePNG(to: path, progressive: true)
        var output = Recipe.Output(format: .png, compression: compression)
        output.progressive = progressive
        let report = try studio.render(path, [Filter("CIColorInvert")], output: output)
        for file in [path, studio.path(report.output.name)] {
            let tags = try Exiftool.tags(of: file, "-G1")
            #expect(tags["PNG:ImageWidth"] == "16")
            #expect(
                !tags.keys.contains { $0.hasPrefix("IFD0:") || $0.hasPrefix("ExifIFD:") }, "\(tags)"
            )
        }
    }

    @Test(arguments: [Recipe.Compression.fast, .small])
    func `texts that may hold the location go with it`(compression: Recipe.Compression) throws {
        let studio = try Studio()
        let path = studio.path("in.png")
        let texts = [
            "Raw profile type exif", "Raw profile type APP1", "exif:GPSLatitude", "Author",
        ]
        try VipsTurn.shared {
            let image = try TestPicture.image(width: 16, height: 16)
            try image.encode(
                by: PNGEncoder(
                    EncodedShape(image),
                    PNGMetadata(
                        profile: nil, exif: nil, xmp: nil,
                        texts: texts.map { ($0, "text of it") }),
                    to: OpenFile(writing: path)))
        }
        // In any order: libvips 8.16 writes them in the reverse one.
        func kept(_ strip: Recipe.Strip) throws -> [String] {
            let report = try studio.render(
                path, [Filter("CIColorInvert")],
                output: .init(format: .png, strip: strip, compression: compression))
            let image = try PhotoFile(at: studio.path(report.output.name)).image(failOn: .error)
            return image.fieldNames.compactMap(PNGFurtherChunks.key(field:)).sorted()
        }
        // EXIF in a text is read and written as EXIF, so that no stale copy of it remains.
        #expect(try kept(.none) == ["Author", "exif:GPSLatitude"])
        #expect(try kept(.gps) == ["Author"])
        #expect(try kept(.all).isEmpty)
    }

    @Test(arguments: [Recipe.Format.png, .tiff], [8, 16])
    func `the bytes are the same for any number of threads`(format: Recipe.Format, bits: Int)
        throws
    {
        let studio = try Studio()
        try TestPicture.image(width: 300, height: 400).writePNG(to: studio.path("in.png"))
        let digests = try [1, 2, 4].map { threads in
            let report = try studio.render(
                studio.path("in.png"), [Filter("CISepiaTone")],
                output: .init(format: format, bitDepth: .init(rawValue: bits)),
                stem: "\(threads)", threads: threads)
            return try FileDigest.sha256(of: studio.path(report.output.name)).hex
        }
        #expect(Set(digests).count == 1)
    }

    @Test func `a disk that is full is told as that`() throws {
        try VipsTurn.alone {
            let image = try TestPicture.image(width: 600, height: 400)
            let failure = #expect(throws: Failure.self) {
                let full = try OpenFile(opening: "/dev/full", O_RDWR)
                try image.encode(
                    by: TIFFEncoder(
                        EncodedShape(image), TIFFMetadata(profile: nil, xmp: nil), level: nil,
                        to: full))
            }
            #expect(failure?.code == .noSpace)
        }
    }
}
