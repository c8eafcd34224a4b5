import Edits
import Codecs
import Filters
import Testing

@testable import Rendering

@Suite("Colours of frames") struct FrameColourTests {
    private static let small = FrameLayout(width: 720, height: 576)
    private static let large = FrameLayout(width: 1920, height: 1080)

    @Test func `the container goes before the stream, and the stream before what is usual`() throws
    {
        let stream = FrameColour.Declaration(
            primaries: 9, transfer: 18, matrix: 9, isFullRange: true)
        let nclc = FrameColour.Declaration(primaries: 12, transfer: 1, matrix: 6)
        let both = try FrameColour(of: Self.large, container: nclc, stream: stream)
        #expect(both.primaries == .displayP3 && both.transfer == .gamma(1.961))
        #expect(both.codes.weights?.red == 0.299 && both.codes.isFullRange)
        // 2 says nothing.
        let vague = FrameColour.Declaration(primaries: 2, transfer: 2, matrix: 2)
        let second = try FrameColour(of: Self.large, container: vague, stream: stream)
        #expect(second.primaries == .bt2020 && second.transfer == .hlg)
        #expect(second.codes.weights?.red == 0.2627)
        let layout = FrameLayout(width: 1920, height: 1080, matrix: 5, isFullRange: true)
        #expect(try FrameColour(of: layout).codes.weights?.red == 0.299)
        #expect(try FrameColour(of: layout).codes.isFullRange)
        let usual = try FrameColour(of: Self.large)
        #expect(usual.primaries == .bt709 && usual.transfer == .gamma(1.961))
        #expect(usual.codes.weights?.red == 0.2126 && !usual.codes.isFullRange)
        #expect(try FrameColour(of: Self.small).codes.weights?.red == 0.299)
    }

    @Test(arguments: [
        (FrameColour.Declaration(primaries: 10), "primaries 10"),
        (FrameColour.Declaration(transfer: 11), "transfer function 11"),
        (FrameColour.Declaration(matrix: 0), "matrix 0"),
        (FrameColour.Declaration(matrix: 14), "matrix 14"),
    ])
    func `what is not known is refused by its number`(
        _ declared: FrameColour.Declaration, _ reason: String
    ) {
        let failure = #expect(throws: Failure.self) {
            _ = try FrameColour(of: Self.large, container: declared)
        }
        #expect(failure?.code == .unsupportedFormat)
        #expect(failure?.message.contains(reason) == true)
    }

    @Test func `frames without chroma are refused`() {
        let grey = FrameLayout(width: 64, height: 64, hasChroma: false)
        #expect(throws: Failure.self) { _ = try FrameColour(of: grey) }
    }

    @Test(arguments: [1, 4, 5, 8, 13, 16, 18])
    func `each transfer function is undone by its inverse, beyond black and white too`(
        _ number: Int
    ) throws {
        let function = try #require(TransferFunction(h273: number))
        for step in -20...105 {
            let value = Double(step) / 100
            #expect(abs(function.encoded(function.linear(value)) - value) < 1e-9)
            #expect(function.linear(-value) == -function.linear(value))
        }
    }

    @Test func `white of HDR is where BT.2408 has it`() {
        #expect(abs(TransferFunction.hlg.linear(0.75) - 1) < 1e-12)
        #expect(abs(TransferFunction.hlg.linear(1) - 3.774) < 0.001)
        // BT.2408 table 1: 203 cd/m² is a signal of 58 %.
        #expect(abs(TransferFunction.pq.encoded(1) - 0.58) < 0.002)
        #expect(abs(TransferFunction.pq.linear(1) - 10_000 / 203) < 1e-6)
    }

    @Test func `primaries become those of sRGB, and white stays white`() throws {
        #expect(FramePrimaries.bt709.toWorking == nil)
        // CSS Color 4, sample code for conversions: display-p3 to linear sRGB.
        let p3 = try #require(FramePrimaries.displayP3.toWorking)
        let expected = [
            1.2249401763, -0.2249401763, 0, -0.0420569547, 1.0420569547, 0, -0.0196375546,
            -0.0786360456, 1.0982736002,
        ]
        for (found, wanted) in zip(p3.rows, expected) { #expect(abs(found - wanted) < 1e-4) }
        for primaries in [FramePrimaries.bt470BG, .smpte170M, .bt2020, .displayP3] {
            let rows = try #require(primaries.toWorking).rows
            for row in 0..<3 {
                #expect(abs(rows[3 * row] + rows[3 * row + 1] + rows[3 * row + 2] - 1) < 1e-9)
            }
        }
    }
}
