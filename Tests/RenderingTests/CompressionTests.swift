import Edits
import Files
import Foundation
import RenderProtocol
import Testing

@testable import Rendering
@testable import Codecs

@Suite("Compression without loss") struct CompressionTests {
    /// By TIFF 6.0 §8: 1 is none, 5 LZW, 8 Deflate.
    private func compression(_ path: String) throws -> String? {
        try Exiftool.tags(of: path, "-n")["Compression"]
    }

    private func source(_ studio: Studio, _ compression: String) throws -> String {
        let path = studio.path(compression + ".tif")
        try Codecs.Operation.perform(
            "tiffsave",
            [
                ("in", .image(try TestPicture.image(width: 61, height: 43))),
                ("filename", .string(path)), ("compression", .string(compression)),
            ])
        return path
    }

    @Test(arguments: [
        ("none", "1"), ("lzw", "8"), ("deflate", "8"), ("packbits", "8"),
    ])
    func `an uncompressed TIFF stays uncompressed, and others are deflated`(
        original: String, result: String
    ) throws {
        let studio = try Studio()
        let source = try source(studio, original)
        let report = try studio.render(source, [Filter("CIColorInvert")])
        #expect(try compression(studio.path(report.output.name)) == result)
        #expect(report.header.isUncompressed == (original == "none"))
        #expect(report.plan.description.contains("uncompressed") == (original == "none"))
        let exact = try studio.pixels(of: source, [Filter("CIColorInvert")], stem: "exact")
        let read = try Image.open(
            studio.path(report.output.name), loader: "tiffload", streaming: false, failOn: .warning)
        #expect(try read.pixels() == exact.bytes)
    }

    @Test(arguments: [
        (Recipe.Compression.uncompressed, "1"), (.fast, "8"), (.small, "8"),
    ])
    func `a TIFF is compressed as is asked for, whatever the original is`(
        asked: Recipe.Compression, result: String
    ) throws {
        let studio = try Studio()
        for original in ["none", "lzw"] {
            let report = try studio.render(
                source(studio, original), [Filter("CIColorInvert")],
                output: .init(compression: asked))
            #expect(report.plan.output.compression == asked)
            #expect(try compression(studio.path(report.output.name)) == result)
        }
    }

    @Test(arguments: [Recipe.Format.png, .tiff])
    func `patience makes the file smaller and leaves the pixels`(format: Recipe.Format) throws {
        let studio = try Studio()
        // Ramps: there is much to be found by looking longer.
        try VipsLibrary.start()
        let codes = (0..<400 * 300 * 3).map {
            UInt8(truncatingIfNeeded: $0 / 3 % 400 / 3 + $0 / 1200)
        }
        try Image.fromPixels(codes, width: 400, height: 300, bands: 3).writePNG(
            to: studio.path("in.png"))
        let files = try [Recipe.Compression.fast, .small].map { asked in
            let report = try studio.render(
                studio.path("in.png"), [Filter("CIColorInvert")],
                output: .init(format: format, compression: asked), stem: asked.rawValue)
            return studio.path(report.output.name)
        }
        let lengths = try files.map { try OpenFile(reading: $0).length() }
        #expect(lengths[1] < lengths[0])
        let loader = format == .png ? "pngload" : "tiffload"
        let pixels = try files.map {
            try Image.open($0, loader: loader, streaming: false, failOn: .warning).pixels()
        }
        #expect(pixels[0] == pixels[1])
    }
}
