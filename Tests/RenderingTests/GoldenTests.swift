import Adjustments
import RenderProtocol
import Testing
import Vips

@testable import Rendering

/// Comparison with pixels that Core Image rendered.
///
/// The golden files are screenshots of the result squeezed into a view: x and y of the source lie at
/// 1.994 (x + ½) + 4.0 and 1.033 (y + ½) + 0.9, found by least squares. The aligning itself leaves
/// about 1 of 255.
@Suite("Golden pixels") struct GoldenTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        let file: String
        let filter: String
        let parameters: [String: FilterValue]
        /// The reference's RMS and half a code for our own aligning; inverting spreads the darks.
        let rmsMax: Double
        var testDescription: String { file }
    }

    @Test(arguments: [
        Pair(
            file: "SepiaTone.png", filter: "CISepiaTone", parameters: ["intensity": 0.8],
            rmsMax: 1.64),
        Pair(file: "ColorInvert.png", filter: "CIColorInvert", parameters: [:], rmsMax: 1.64),
    ])
    func `the filter agrees with Core Image's own result`(_ pair: Pair) throws {
        let studio = try Studio()
        let source = studio.path("flower.png")
        try Picture(Studio.fixture("flower.png")).image.changing([.remove("icc-profile-data")])
            .writePNG(to: source)
        let ours = try studio.pixels(of: source, [Filter(pair.filter, pair.parameters)])
        let golden = try Picture(Studio.fixture(pair.file))
        let margin = 12
        var sum = 0.0
        var count = 0
        for y in margin..<golden.height - margin - 40 {
            let sourceY = 1.033 * (Double(y) + 0.5) + 0.9 - 0.5
            for x in margin..<golden.width - margin {
                let sourceX = min(1.994 * (Double(x) + 0.5) + 4.0 - 0.5, Double(ours.width) - 1.1)
                for band in 0..<3 {
                    let expected = Double(
                        golden.bytes[(y * golden.width + x) * golden.bands + band])
                    let d = between(ours, sourceX, sourceY, band) - expected
                    sum += d * d
                    count += 1
                }
            }
        }
        let rms = (sum / Double(count)).squareRoot()
        #expect(rms <= pair.rmsMax, "RMS \(rms)")
    }

    private func between(_ picture: Picture, _ x: Double, _ y: Double, _ band: Int) -> Double {
        let (column, row) = (Int(x), Int(y))
        let (fx, fy) = (x - Double(column), y - Double(row))
        func at(_ dx: Int, _ dy: Int) -> Double {
            Double(
                picture.bytes[((row + dy) * picture.width + column + dx) * picture.bands + band])
        }
        return (at(0, 0) * (1 - fx) + at(1, 0) * fx) * (1 - fy)
            + (at(0, 1) * (1 - fx) + at(1, 1) * fx) * fy
    }
}
