import Edits
import Foundation
import RenderProtocol
import Testing
import Codecs

@testable import Rendering

@Suite("Failures") struct FailureTests {
    private let invert: [Filter]

    init() throws { invert = [try Filter("CIColorInvert")] }

    private func code(_ studio: Studio, _ source: String, pixelsMax: Int = 1 << 29) -> FailureCode?
    {
        do {
            _ = try studio.render(source, invert, pixelsMax: pixelsMax)
            return nil
        } catch let failure as Failure {
            return failure.code
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    private func cut(_ path: String, to share: Double) throws -> [UInt8] {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        return Array(bytes.prefix(Int(Double(bytes.count) * share)))
    }

    /// A TIFF of one pixel.
    private func tiff(samples: Int, bits: Int, kind: Int) -> [UInt8] {
        let bytes = samples * bits / 8
        let tags: [(tag: Int, type: Int, value: Int)] = [
            (256, 3, 1), (257, 3, 1), (258, 3, bits), (259, 3, 1), (262, 3, 1), (273, 4, 8),
            (277, 3, samples), (278, 3, 1), (279, 4, bytes), (284, 3, 1), (339, 3, kind),
        ]
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        return [0x49, 0x49, 42, 0] + little(8 + bytes, 4) + [UInt8](repeating: 0, count: bytes)
            + little(tags.count, 2)
            + tags.flatMap {
                little($0.tag, 2) + little($0.type, 2) + little(1, 4) + little($0.value, 4)
            }
            + little(0, 4)
    }

    @Test(arguments: [(65, 8, 1), (259, 8, 1)])
    func `measurements that are no photo are refused`(samples: Int, bits: Int, kind: Int) throws {
        let studio = try Studio()
        let photo = try studio.write(tiff(samples: samples, bits: bits, kind: kind), as: "a.tif")
        #expect(code(studio, photo) == .unsupportedFormat)
    }

    @Test func `a missing file, an empty file and a text are told apart`() throws {
        let studio = try Studio()
        #expect(code(studio, studio.path("nothing.jpg")) == .missingAsset)
        #expect(code(studio, try studio.write([], as: "empty.jpg")) == .emptyFile)
        #expect(
            code(studio, try studio.write(Array("Hello".utf8), as: "text.jpg"))
                == .unsupportedFormat)
        #expect(
            code(studio, try studio.write(Array("<svg/>".utf8), as: "a.svg")) == .unsupportedFormat)
        #expect(code(studio, studio.folder) == .unsupportedFormat)
    }

    @Test(arguments: [0.3, 0.6, 0.95])
    func `a photo that is cut off is damaged`(_ share: Double) throws {
        let studio = try Studio()
        let image = try TestPicture.image(width: 200, height: 150)
        try image.writeJPEG(to: studio.path("a.jpg"), quality: 90, chroma: .on)
        try image.writePNG(to: studio.path("a.png"))
        for source in [
            studio.path("a.jpg"), studio.path("a.png"), Studio.fixture("L_8__128x128.heif"),
        ] {
            let path = try studio.write(try cut(source, to: share), as: "cut")
            #expect(code(studio, path) == .damagedPhoto, "\(source) at \(share)")
        }
    }

    @Test func `a JPEG with scribbles in its pixels is damaged`() throws {
        let studio = try Studio()
        try TestPicture.image(width: 200, height: 150).writeJPEG(
            to: studio.path("a.jpg"), quality: 90, chroma: .on)
        var bytes = try cut(studio.path("a.jpg"), to: 1)
        for index in bytes.count / 2..<bytes.count / 2 + 300 { bytes[index] = 0xFE }
        #expect(code(studio, try studio.write(bytes, as: "b.jpg")) == .damagedPhoto)
    }

    @Test func `a JPEG with bytes to spare is whole`() throws {
        let studio = try Studio()
        try TestPicture.image(width: 64, height: 48).writeJPEG(
            to: studio.path("a.jpg"), quality: 90, chroma: .on)
        var bytes = try cut(studio.path("a.jpg"), to: 1)
        bytes.insert(contentsOf: [0, 0, 0], at: bytes.count - 2)
        #expect(code(studio, try studio.write(bytes, as: "b.jpg")) == nil)
    }

    @Test func `too many pixels are refused by the header alone`() throws {
        let studio = try Studio()
        try TestPicture.image(width: 40, height: 30).writePNG(to: studio.path("a.png"))
        #expect(code(studio, studio.path("a.png"), pixelsMax: 1199) == .tooManyPixels)
        // A header that claims 60 000 × 60 000 pixels and has none of them.
        var bytes = try cut(studio.path("a.png"), to: 1)
        let side: [UInt8] = [0, 0, 0xEA, 0x60]
        bytes.replaceSubrange(16..<24, with: side + side)
        bytes.replaceSubrange(29..<33, with: crc32(bytes[12..<29]))
        #expect(code(studio, try studio.write(bytes, as: "bomb.png")) == .tooManyPixels)
    }

    private func crc32(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        crc = ~crc
        return (0..<4).map { UInt8(crc >> (24 - 8 * UInt32($0)) & 255) }
    }

    @Test func `a wrong extension changes nothing`() throws {
        let studio = try Studio()
        try TestPicture.image(width: 40, height: 30).writePNG(to: studio.path("a.png"))
        let path = try studio.write(try cut(studio.path("a.png"), to: 1), as: "a.jpg")
        let report = try studio.render(path, invert)
        #expect(report.header.format == .png && report.output.name == "out.png")
    }

    @Test(arguments: [
        (
            "jpegsave", "a.jpg: write error; unix error: No space left on device",
            FailureCode.noSpace
        ),
        ("jpegload", "VipsJpeg: Insufficient memory (case 4)", .outOfMemory),
        ("jpegsave", "VipsJpeg: Premature end of JPEG file", .damagedPhoto),
        ("pngsave", "vips2png: unable to write to target a.png", .damagedPhoto),
        ("tiffload", "tiff2vips: tiled separate planes not supported", .unsupportedFormat),
        ("jpegsave", "source input: Using code not yet in table", .damagedPhoto),
        ("jpegsave", "LZWDecode: Not enough data at scanline 320 (short 1 bytes)", .damagedPhoto),
        (
            "heifload",
            "a: bad seek to 16023; heif: Memory allocation error: Security limit exceeded",
            .unsupportedFormat
        ),
        ("icc_transform", "VipsIcc: Couldn't link the profiles", .damagedPhoto),
        (
            "icc_transform", "icc_transform: unable to load or find any compatible input profile",
            .damagedPhoto
        ),
        ("copy", "unix error: Input/output error", .ioFailure),
        ("rot", "something new", .internalError),
    ])
    func `libvips' message becomes a code`(_ operation: String, _ text: String, _ code: FailureCode)
    {
        #expect(Failure.code(operation: operation, text: text) == code)
    }
}
