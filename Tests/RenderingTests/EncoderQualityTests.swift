import Edits
import Files
import Foundation
import MinilabTesting
import Testing

@testable import Rendering
@testable import Codecs

@Suite("Quality") struct EncoderQualityTests {
    private static let lossy = Recipe.Format.photos.filter(\.isLossy)
    /// Those whose encoders have a quality of their own, from 1 to 100.
    private static let numbered = lossy.filter { $0 != .heic }

    @Test func `a JPEG's quality is libjpeg's own`() {
        for percent in 0...100 {
            #expect(EncoderQuality.of(Double(percent) / 100, .jpeg) == max(1, percent))
        }
    }

    @Test func `more quality is never a higher rate factor to x265, from 51 on`() {
        let rates = (0...200).map { EncoderQuality.rate(Double($0) / 200) }
        #expect(rates == rates.sorted(by: >))
        #expect(rates.first == 51 && rates.last.map { $0 >= 0 } == true)
    }

    @Test(arguments: numbered)
    func `more quality is never less to an encoder, from 1 on`(format: Recipe.Format) {
        let numbers = (0...200).map { EncoderQuality.of(Double($0) / 200, format) }
        #expect(numbers == numbers.sorted())
        #expect(numbers.first == (format == .jxl ? 5 : 1))
        #expect(numbers.last.map { $0 <= 100 } == true)
    }

    @Test(arguments: lossy)
    func `the lowest quality makes the smallest file`(format: Recipe.Format) throws {
        let studio = try Studio()
        try TestPicture.image(width: 200, height: 150).writePNG(to: studio.path("in.png"))
        let lengths = try [0, 0.1, 0.5].map { quality in
            let report = try studio.render(
                studio.path("in.png"), [Filter("CISepiaTone")],
                output: .init(format: format, quality: quality), stem: "\(quality)")
            return try OpenFile(reading: studio.path(report.output.name)).length()
        }
        #expect(lengths[0] <= lengths[1] && lengths[1] < lengths[2], "\(lengths)")
    }

    /// The table is a mean of ten photos; one photo lies within 2 dB of it, and by the encoders' own numbers 6 dB beside it.
    @Test(arguments: [0.6, 0.9])
    func `equal quality gives about equal SSIM in every format`(quality: Double) throws {
        let studio = try Studio()
        let photo = try Image.open(
            Studio.fixture("heron.jpg"), loader: "jpegload", streaming: false, failOn: .error)
        let scale = 400 / Double(max(photo.width, photo.height))
        let small = try Operation.run("resize", [("in", .image(photo)), ("scale", .double(scale))])
        try small.writePNG(to: studio.path("in.png"))
        let original = try luma(small)
        // Something has to be edited, or a JPEG would be copied.
        func decibels(_ format: Recipe.Format) throws -> Double {
            let report = try studio.render(
                studio.path("in.png"), [Filter("CISepiaTone", ["intensity": 0.001])],
                output: .init(
                    format: format, quality: quality,
                    chroma: format.chromas.contains(.half) ? .half : nil))
            let file = try PhotoFile(at: studio.path(report.output.name))
            let written = try file.image(failOn: .error)
            let similarity = try ssim(original, luma(written), width: small.width)
            return -10 * log10(1 - similarity)
        }
        let jpeg = try decibels(.jpeg)
        for format in Self.lossy where format != .jpeg {
            let other = try decibels(format)
            #expect(abs(other - jpeg) < 2, "\(format): \(other) dB, JPEG \(jpeg) dB")
        }
    }

    private func luma(_ image: Image) throws -> [Double] {
        let weights = [0.299, 0.587, 0.114]
        let codes = try image.pixels()
        let bands = image.bands
        return stride(from: 0, to: codes.count, by: bands).map { index in
            var sum = 0.0
            for band in 0..<3 { sum += weights[band] * Double(codes[index + band]) }
            return sum
        }
    }

    /// Mean SSIM over blocks of 8×8, every 4 pixels (Wang et al. 2004, K1 0.01, K2 0.03).
    private func ssim(_ a: [Double], _ b: [Double], width: Int) -> Double {
        let (c1, c2) = (6.5025, 58.5225)
        let height = a.count / width
        var total = 0.0
        var blocks = 0.0
        for top in stride(from: 0, through: height - 8, by: 4) {
            for left in stride(from: 0, through: width - 8, by: 4) {
                var (sa, sb, aa, bb, ab) = (0.0, 0.0, 0.0, 0.0, 0.0)
                for y in top..<top + 8 {
                    for x in left..<left + 8 {
                        let (p, q) = (a[y * width + x], b[y * width + x])
                        sa += p
                        sb += q
                        aa += p * p
                        bb += q * q
                        ab += p * q
                    }
                }
                let (ma, mb) = (sa / 64, sb / 64)
                let (va, vb) = (aa / 64 - ma * ma, bb / 64 - mb * mb)
                let cov = ab / 64 - ma * mb
                let means: Double = (2 * ma * mb + c1) / (ma * ma + mb * mb + c1)
                let spreads: Double = (2 * cov + c2) / (va + vb + c2)
                total += means * spreads
                blocks += 1
            }
        }
        return total / blocks
    }
}
