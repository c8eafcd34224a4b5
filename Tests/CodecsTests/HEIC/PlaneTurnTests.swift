import MinilabTesting
import Testing

@testable import PhotoFiles
@testable import Codecs

@Suite("Planes that are turned") struct PlaneTurnTests {
    @Test(arguments: [false, true], [false, true])
    func `have each sample where it belongs`(_ transposes: Bool, _ flipsColumns: Bool) {
        for flipsRows in [false, true] {
            // The room is larger than what is there, as for a picture of an odd width.
            let (width, height, room) = (37, 21, (width: 38, height: 22))
            let source = (0..<width * height).map { UInt16($0) }
            let upright =
                transposes
                ? (width: room.height, height: room.width)
                : (width: room.width, height: room.height)
            var target = [UInt16](repeating: .max, count: room.width * room.height)
            let turn = PlaneTurn(
                transposes: transposes, flipsColumns: flipsColumns, flipsRows: flipsRows)
            source.withUnsafeBufferPointer { from in
                target.withUnsafeMutableBufferPointer { to in
                    guard let from = from.baseAddress, let to = to.baseAddress else { return }
                    turn.copy(
                        (from, 2 * width), size: (width, height), room: room,
                        to: (to, 2 * upright.width))
                }
            }
            for y in 0..<upright.height {
                for x in 0..<upright.width {
                    let a = flipsColumns ? upright.width - 1 - x : x
                    let b = flipsRows ? upright.height - 1 - y : y
                    let (u, v) = transposes ? (b, a) : (a, b)
                    let expected = u < width && v < height ? source[v * width + u] : .max
                    #expect(target[y * upright.width + x] == expected)
                }
            }
        }
    }
}

@Suite("Rows of RGB") struct RGBRowTests {
    /// Every code of luma and chroma by the formulas of H.273, in doubles.
    @Test(arguments: [8, 10, 12], [true, false])
    func `are within half a code of the formulas`(_ bits: Int, _ isFullRange: Bool) throws {
        for matrix in [0, 1, 5, 6, 9] {
            let colour = try YCbCrColour(
                FrameLayout(width: 1, height: 1, bits: bits),
                declared: .init(
                    primaries: 1, transfer: 13, matrix: matrix, isFullRange: isFullRange))
            var random = SeededGenerator()
            random.printSeed()
            let most = (1 << bits) - 1
            let codes = (0..<3_000).map { _ in
                (0..<3).map { _ in Int.random(in: 0...most, using: &random) }
            }
            let made = Self.row(codes, colour)
            for (code, rgb) in zip(codes, made) {
                let expected = Self.expected(code, colour, bits == 8 ? 255 : 65_535)
                for (a, b) in zip(rgb, expected) {
                    #expect(abs(Double(a) - b) <= (bits == 8 ? 0.51 : 0.6), "\(code) \(matrix)")
                }
            }
        }
    }

    @Test func `of half as many samples of chroma lie between them by 3 and 1`() throws {
        let colour = try YCbCrColour(FrameLayout(width: 4, height: 1), declared: nil)
        let row = RGBRow(colour, width: 4, shiftX: 1, chromaLength: 2)
        let luma: [UInt8] = [128, 128, 128, 128]
        let (blue, near, far): ([UInt8], [UInt8], [UInt8]) = ([128, 128], [128, 192], [128, 128])
        var out = [UInt8](repeating: 0, count: 12)
        luma.withUnsafeBytes { luma in
            blue.withUnsafeBytes { blue in
                near.withUnsafeBytes { near in
                    far.withUnsafeBytes { far in
                        out.withUnsafeMutableBytes { out in
                            guard let luma = luma.baseAddress, let blue = blue.baseAddress,
                                let near = near.baseAddress, let far = far.baseAddress,
                                let out = out.baseAddress
                            else { return }
                            row.write(
                                luma: luma,
                                chroma: (
                                    .init(near: blue, far: blue), .init(near: near, far: far)
                                ), left: 0, count: 4, bands: 3, to: out)
                        }
                    }
                }
            }
        }
        // Red difference: 3/4 of 64 down, then 0, 1/4, 3/4 and all of it across.
        let reds = [0, 12, 36, 48].map { UInt8((128 + 1.402 * $0).rounded()) }
        #expect([out[0], out[3], out[6], out[9]] == reds)
    }

    private static func row(_ codes: [[Int]], _ colour: YCbCrColour) -> [[Int]] {
        let isBytes = colour.bits == 8
        func plane(_ index: Int) -> [UInt8] {
            codes.flatMap { code -> [UInt8] in
                isBytes
                    ? [UInt8(code[index])]
                    : [UInt8(code[index] & 255), UInt8(code[index] >> 8)]
            }
        }
        let planes = (0..<3).map(plane)
        let row = RGBRow(colour, width: codes.count, shiftX: 0, chromaLength: codes.count)
        var out = [UInt8](repeating: 0, count: codes.count * 3 * (isBytes ? 1 : 2))
        planes[0].withUnsafeBytes { luma in
            planes[1].withUnsafeBytes { blue in
                planes[2].withUnsafeBytes { red in
                    out.withUnsafeMutableBytes { out in
                        guard let luma = luma.baseAddress, let blue = blue.baseAddress,
                            let red = red.baseAddress, let out = out.baseAddress
                        else { return }
                        row.write(
                            luma: luma,
                            chroma: (.init(near: blue, far: blue), .init(near: red, far: red)),
                            left: 0, count: codes.count, bands: 3, to: out)
                    }
                }
            }
        }
        let numbers =
            isBytes
            ? out.map(Int.init)
            : stride(from: 0, to: out.count, by: 2).map { Int(out[$0]) | Int(out[$0 + 1]) << 8 }
        return stride(from: 0, to: numbers.count, by: 3).map { Array(numbers[$0..<$0 + 3]) }
    }

    private static func expected(_ code: [Int], _ colour: YCbCrColour, _ most: Double) -> [Double] {
        let bits = Double(1 << (colour.bits - 8))
        let range = colour.isFullRange ? 256 * bits - 1 : 219 * bits
        let black = colour.isFullRange ? 0 : 16 * bits
        func clamped(_ value: Double) -> Double { max(0, min(1, value)) * most }
        guard let weights = colour.weights else {
            return [2, 0, 1].map { clamped((Double(code[$0]) - black) / range) }
        }
        let chromaRange = colour.isFullRange ? 256 * bits - 1 : 224 * bits
        let y = (Double(code[0]) - black) / range
        let b = (Double(code[1]) - 128 * bits) / chromaRange
        let r = (Double(code[2]) - 128 * bits) / chromaRange
        let red = y + 2 * (1 - weights.red) * r
        let blue = y + 2 * (1 - weights.blue) * b
        let green =
            (y - weights.red * red - weights.blue * blue) / (1 - weights.red - weights.blue)
        return [red, green, blue].map(clamped)
    }
}
