import Edits
import Filters
import Foundation
import RenderProtocol
import Testing

@testable import Rendering

/// DNGs made here, of a sensor that sees sRGB's primaries, so that the colours are known.
@Suite("Camera RAW") struct RawTests {
    private struct Entry {
        let tag: Int, type: Int, values: [Int]
        var bytes: [UInt8] {
            values.flatMap { value in
                (0..<[1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 10: 4][type, default: 1]).map {
                    UInt8(truncatingIfNeeded: value >> (8 * $0))
                }
            }
        }
        var count: Int { type == 5 || type == 10 ? values.count / 2 : values.count }
    }

    /// A Bayer mosaic (red, green / green, blue) of one colour, 16 bit, white at 65,535.
    ///
    /// - Parameters:
    ///   - neutral: what the sensor says of white, in parts of 256.
    ///   - colour: what it says here.
    ///   - brightest: the samples of the first two rows; nil for the same colour.
    ///   - isCompressed: whether the mosaic is two tiles of lossless JPEG, one beside the other.
    private func dng(
        width: Int = 128, height: Int = 96, orientation: Int = 1, neutral: [Int] = [256, 256, 256],
        colour: [Int], brightest: Int? = nil, isCompressed: Bool = false
    ) -> [UInt8] {
        let mosaic = (0..<height).map { y in
            (0..<width).map { x in y < 2 ? brightest ?? colour[y + x % 2] : colour[y % 2 + x % 2] }
        }
        let tiles =
            isCompressed
            ? [0..<width / 2, width / 2..<width].map { columns in
                LosslessJPEG.encoded(mosaic.map { Array($0[columns]) })
            } : [mosaic.flatMap { $0.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] } }]
        // XYZ (D65) to linear sRGB: IEC 61966-2-1, so that the sensor's colours are sRGB's.
        let matrix = [32_406, -15_372, -4_986, -9_689, 18_758, 415, 557, -2_040, 10_570]
        let text = Array("Minilab\0".utf8).map { Int($0) }
        var entries = [
            Entry(tag: 254, type: 4, values: [0]), Entry(tag: 256, type: 4, values: [width]),
            Entry(tag: 257, type: 4, values: [height]), Entry(tag: 258, type: 3, values: [16]),
            Entry(tag: 259, type: 3, values: [isCompressed ? 7 : 1]),
            Entry(tag: 262, type: 3, values: [32_803]),
            Entry(tag: 271, type: 2, values: text), Entry(tag: 272, type: 2, values: text),
            Entry(tag: 274, type: 3, values: [orientation]), Entry(tag: 277, type: 3, values: [1]),
            Entry(tag: 33_421, type: 3, values: [2, 2]),
            Entry(tag: 33_422, type: 1, values: [0, 1, 1, 2]),
            Entry(tag: 50_706, type: 1, values: [1, 4, 0, 0]),
            Entry(tag: 50_708, type: 2, values: text),
            Entry(tag: 50_721, type: 10, values: matrix.flatMap { [$0, 10_000] }),
            Entry(tag: 50_728, type: 5, values: neutral.flatMap { [$0, 256] }),
            Entry(tag: 50_778, type: 3, values: [21]),
        ]
        entries +=
            isCompressed
            ? [
                Entry(tag: 322, type: 4, values: [width / 2]),
                Entry(tag: 323, type: 4, values: [height]),
                Entry(tag: 324, type: 4, values: [0, 0]),
                Entry(tag: 325, type: 4, values: tiles.map(\.count)),
            ]
            : [
                Entry(tag: 273, type: 4, values: [0]), Entry(tag: 278, type: 4, values: [height]),
                Entry(tag: 279, type: 4, values: [tiles[0].count]),
            ]
        entries.sort { $0.tag < $1.tag }
        func little(_ value: Int, _ length: Int) -> [UInt8] {
            (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let tailStart = 8 + 2 + entries.count * 12 + 4
        let tailLength = entries.map(\.bytes.count).filter { $0 > 4 }.reduce(0, +)
        let places = tiles.indices.map { index in
            tailStart + tailLength + tiles[..<index].reduce(0) { $0 + $1.count }
        }
        for index in entries.indices where [273, 324].contains(entries[index].tag) {
            entries[index] = Entry(tag: entries[index].tag, type: 4, values: places)
        }
        var file = Array("II*\0".utf8) + little(8, 4) + little(entries.count, 2)
        var tail: [UInt8] = []
        for entry in entries {
            file += little(entry.tag, 2) + little(entry.type, 2) + little(entry.count, 4)
            let bytes = entry.bytes
            if bytes.count <= 4 {
                file += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
            } else {
                file += little(tailStart + tail.count, 4)
                tail += bytes
            }
        }
        return file + little(0, 4) + tail + tiles.joined()
    }

    /// What comes out of the middle as 16-bit sRGB, and the report.
    private func developed(_ bytes: [UInt8]) throws -> (codes: [Int], report: TestRender) {
        let studio = try Studio()
        let source = try studio.write(bytes, as: "photo.jpg")
        let report = try studio.render(
            source, [Filter("CISepiaTone", ["intensity": 0])], format: .png)
        let picture = try Picture(studio.path("out.png"))
        let offset = (picture.height / 2 * picture.width + picture.width / 2) * 6
        return (
            (0..<3).map {
                Int(picture.bytes[offset + 2 * $0]) | Int(picture.bytes[offset + 2 * $0 + 1]) << 8
            }, report
        )
    }

    private func encoded(_ light: Double) -> Double { ToneCurve.sRGB.encoded(light) * 65_535 }

    @Test func `a DNG is developed with the camera's white balance to 16-bit sRGB`() throws {
        // The sensor sees less red and blue of white; half of white is grey of half the light.
        let (codes, report) = try developed(
            dng(neutral: [128, 256, 192], colour: [16_384, 32_768, 24_576]))
        #expect(report.header.format == .raw && report.header.bitsPerSample == 16)
        #expect(report.output.size == PixelSize(width: 128, height: 96))
        #expect(
            report.header.notes == [
                "RAW of Minilab Minilab developed by LibRaw with the camera's white balance"
            ])
        let spread = (codes.max() ?? 0) - (codes.min() ?? 0)
        #expect(spread < 700, "\(codes) is not grey")
        #expect(abs(Double(codes[1]) - encoded(0.5)) < 1_500, "\(codes), \(encoded(0.5))")
    }

    @Test func `a colour of the sensor comes out as that colour`() throws {
        let (codes, _) = try developed(
            dng(neutral: [256, 256, 256], colour: [40_000, 20_000, 10_000]))
        // The matrix says that the sensor sees sRGB's primaries: only white is scaled.
        for (code, light) in zip(codes, [40_000.0, 20_000, 10_000]) {
            #expect(abs(Double(code) - encoded(light / 65_535)) < 2_500, "\(codes)")
        }
    }

    @Test(arguments: [1, 3, 6, 8]) func `a RAW is turned upright once`(orientation: Int) throws {
        let (_, report) = try developed(
            dng(
                orientation: orientation, neutral: [256, 256, 256],
                colour: [20_000, 20_000, 20_000]))
        let isTurned = orientation >= 5
        #expect(
            report.output.size
                == PixelSize(width: isTurned ? 96 : 128, height: isTurned ? 128 : 96))
        #expect(report.header.orientation == 1)
    }

    @Test func `too many pixels are refused before they are unpacked`() throws {
        let studio = try Studio()
        let source = try studio.write(
            dng(neutral: [256, 256, 256], colour: [1, 1, 1]), as: "a.dng")
        let failure = #expect(throws: Failure.self) {
            try studio.render(source, [Filter("CISepiaTone")], pixelsMax: 128 * 96 - 1)
        }
        #expect(failure?.code == .tooManyPixels)
    }

    /// Two frames of a series, one of which has a reflection, are developed alike.
    @Test(arguments: [0.76, 0.9, 1.0])
    func `the exposure does not depend on the brightest sample`(brightest: Double) throws {
        let (codes, _) = try developed(
            dng(
                colour: [19_660, 19_660, 19_660], brightest: Int(brightest * 65_535)))
        for code in codes {
            #expect(abs(Double(code) - encoded(19_660 / 65_535.0)) < 500, "\(codes)")
        }
    }

    private func failure(of bytes: [UInt8], as name: String) throws -> Failure? {
        let studio = try Studio()
        let source = try studio.write(bytes, as: name)
        do {
            _ = try studio.render(source, [Filter("CISepiaTone")])
            return nil
        } catch let failure as Failure {
            return failure
        }
    }

    /// Each loader of LibRaw has its own way with a file that ends too early: rows of bytes, and codes of variable length.
    @Test(arguments: [false, true])
    func `a RAW that is cut off anywhere in its samples is damaged`(isCompressed: Bool) throws {
        let whole = dng(colour: [20_000, 30_011, 20_203], isCompressed: isCompressed)
        #expect(try failure(of: whole, as: "whole.dng") == nil)
        // A decoder of codes needs neither the marker at the end nor all bits of the last codes.
        for lost in [isCompressed ? 100 : 3, 1_000, whole.count / 3, whole.count / 2] {
            let code = try failure(of: Array(whole.dropLast(lost)), as: "cut.dng")?.code
            #expect(code == .damagedPhoto, "\(lost) bytes are missing")
        }
    }

    @Test func `a RAW whose sensor data is not there is damaged`() throws {
        #expect(
            try failure(of: dng(colour: [0, 0, 0]), as: "empty.dng")?.code == .damagedPhoto)
    }

    private static let corpus = ProcessInfo.processInfo.environment["MINILAB_CORPUS"]

    /// Compressions of real cameras: those RAWs of the corpus that are developed whole.
    @Test(.enabled(if: corpus != nil, "needs MINILAB_CORPUS"))
    func `each RAW of the corpus is developed whole and damaged when it is cut off`() throws {
        let folder = URL(filePath: try #require(Self.corpus)).appending(path: "photos/raw")
        var developed = 0
        for file in try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        where file.pathExtension == "dng" {
            let whole = [UInt8](try Data(contentsOf: file))
            guard try failure(of: whole, as: "whole.dng") == nil else { continue }
            developed += 1
            for share in [0.6, 0.9, 0.99] {
                let cut = Array(whole.prefix(Int(Double(whole.count) * share)))
                let code = try failure(of: cut, as: "cut.dng")?.code
                #expect(code == .damagedPhoto, "\(share) of \(file.lastPathComponent)")
            }
        }
        #expect(developed > 0)
    }
}
