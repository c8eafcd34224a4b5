import Edits
import Codecs
import Filters
import Foundation
import MinilabTesting
@testable import Rendering
import RenderProtocol
import Testing

@Suite("Frames in planes") struct FramePlanesTests {
    private static func layout(
        _ width: Int, _ height: Int, _ shiftX: Int = 1, _ shiftY: Int = 1, bits: Int = 8
    ) -> FrameLayout {
        FrameLayout(width: width, height: height, bits: bits, chromaShift: (shiftX, shiftY))
    }

    /// Smooth colours that no matrix takes far beyond black or white.
    private static func smooth(_ layout: FrameLayout) -> FrameSamples {
        FrameSamples(layout) { plane, x, y in
            let (u, v) =
                plane == 0
                ? (Double(x), Double(y)) : (Double(x * layout.across), Double(y * layout.down))
            let wave = sin(u / 23 + Double(2 * plane)) + cos(v / 17 - Double(plane))
            return Int(128 + (plane == 0 ? 40 : 14) * wave)
        }
    }

    private static func noise(_ layout: FrameLayout) -> FrameSamples {
        var generator = SeededGenerator()
        generator.printSeed()
        var codes: [Int] = []
        for _ in 0..<3 * layout.width * layout.height {
            codes.append(Int.random(in: 0..<1 << layout.bits, using: &generator))
        }
        return FrameSamples(layout) { plane, x, y in
            codes[(plane * layout.height + y) * layout.width + x]
        }
    }

    /// BT.709's equations for limited range, or BT.601's for the full one, by themselves.
    private static func exposed(
        _ samples: FrameSamples, _ shares: (red: Double, blue: Double), isFullRange: Bool,
        power: Double, gain: Double
    ) -> FrameSamples {
        let layout = samples.layout
        let (scale, most) = (Double(1 << (layout.bits - 8)), Double(1 << layout.bits - 1))
        let (black, span, range) =
            isFullRange ? (0.0, most, most) : (16 * scale, 219 * scale, 224 * scale)
        let zero = 128 * scale
        let green = 1 - shares.red - shares.blue
        func colour(_ x: Int, _ y: Int) -> [Double] {
            let luma = (Double(samples[0, x, y]) - black) / span
            let b = (Double(samples[1, x / layout.across, y / layout.down]) - zero) / range
            let r = (Double(samples[2, x / layout.across, y / layout.down]) - zero) / range
            let red = luma + 2 * (1 - shares.red) * r
            let blue = luma + 2 * (1 - shares.blue) * b
            let values = [red, (luma - shares.red * red - shares.blue * blue) / green, blue]
            return values.map { value in
                let limited = isFullRange ? min(max(value, 0), 1) : value
                let light = copysign(pow(abs(limited), power), limited) * gain
                let code = copysign(pow(abs(light), 1 / power), light)
                return isFullRange ? min(max(code, 0), 1) : code
            }
        }
        func luma(_ colour: [Double]) -> Double {
            shares.red * colour[0] + green * colour[1] + shares.blue * colour[2]
        }
        func code(_ number: Double) -> Int { Int(min(max(number, 0), most) + 0.5) }
        return FrameSamples(layout) { plane, x, y in
            guard plane > 0 else { return code(luma(colour(x, y)) * span + black) }
            var sum = 0.0
            for row in 0..<layout.down {
                for column in 0..<layout.across {
                    let pixel = colour(x * layout.across + column, y * layout.down + row)
                    let (own, share) = plane == 1 ? (pixel[2], shares.blue) : (pixel[0], shares.red)
                    let difference = (own - luma(pixel)) / (2 * (1 - share))
                    sum += min(max(difference * range + zero, 0), most)
                }
            }
            return code(sum / Double(layout.across * layout.down))
        }
    }

    @Test(arguments: [(1, 1), (1, 0), (0, 0), (0, 1)], [false, true])
    func `the result is what a slow formula says of each pixel`(
        _ shift: (Int, Int), _ isFullRange: Bool
    ) throws {
        for bits in [8, 10] {
            let layout = Self.layout(102, 54, shift.0, shift.1, bits: bits)
            let frame = Self.noise(layout)
            let colour = try FrameColour(
                of: layout,
                container: .init(
                    primaries: 1, transfer: 1, matrix: isFullRange ? 6 : 1, isFullRange: isFullRange
                ))
            let filters = [try Filter("CIExposureAdjust", ["inputEV": .number(-0.7)])]
            let found = try frame.edited(filters, colour, lane: .planes)
            let expected = Self.exposed(
                frame, isFullRange ? (0.299, 0.114) : (0.2126, 0.0722), isFullRange: isFullRange,
                power: 1.961, gain: pow(2, -0.7))
            #expect(found.difference(from: expected) <= 1)
            #expect(found.difference(from: frame) > 20)
        }
    }

    @Test func `full range by BT.601 is what a JPEG's planes become`() throws {
        let (width, height) = (96, 48)
        let layout = Self.layout(width, height)
        let colour = try FrameColour(
            of: layout,
            container: .init(primaries: 1, transfer: 13, matrix: 6, isFullRange: true))
        let sepia = try Filter("CISepiaTone", ["intensity": 0.8])
        let vignette = try Filter(
            "CIVignetteEffect", ["center": [50, 30], "radius": 40, "intensity": 0.8])
        for filters in [[sepia], [sepia, vignette]] {
            let frame = Self.noise(layout)
            let photo = JPEGLayout(
                width: width, height: height, colour: .ycbcr,
                sampling: [.init(2, 2), .init(1, 1), .init(1, 1)])
            let planes = JPEGPlanes(photo, mcuRows: photo.mcuRows)
            for (index, plane) in planes.planes.enumerated() {
                let (columns, rows) = FrameSamples.size(index, layout)
                for y in 0..<rows {
                    for x in 0..<columns {
                        plane.start[y * plane.stride + x] = UInt8(frame[index, x, y])
                    }
                }
            }
            let (steps, _) = try Planner.steps(
                of: Recipe(filters: filters), on: PixelSize(width: width, height: height),
                limits: .init(), .none)
            let working = steps.flatMap { step -> [any PixelFilter] in
                if case .pixels(let pixels) = step { pixels.compactMap(\.working) } else { [] }
            }
            let program = PlaneProgram(filters: working, colour: PhotoColour.sRGB, chain: filters)
            for row in 0..<photo.mcuRows { program.run(planes, mcuRow: row, photoRow: row) }
            let found = try frame.edited(filters, colour, lane: .planes)
            let expected = FrameSamples(layout) { plane, x, y in
                Int(planes.planes[plane].start[y * planes.planes[plane].stride + x])
            }
            #expect(found.samples == expected.samples)
        }
    }

    @Test(arguments: [1, 6, 9]) func `codes of the limited range that no filter changes come back`(
        _ matrix: Int
    ) throws {
        for bits in [8, 10] {
            let layout = Self.layout(256, 64, 0, 0, bits: bits)
            let frame = Self.noise(layout)
            let colour = try FrameColour(of: layout, container: .init(matrix: matrix))
            let result = FrameSamples(layout)
            FramePlanes(
                PixelArea(left: 0, top: 0, width: 256, height: 64), layout,
                bits == 8
                    ? .bytes(PlaneProgram(filters: [], colour: PlaneColour(colour)))
                    : .deep(DeepPlaneProgram([], colour))
            ).edit(frame.source, into: result.target)
            #expect(result.samples == frame.samples)
        }
    }

    @Test func `grey of the limited range stays grey, below black and above white too`() throws {
        let layout = Self.layout(256, 4)
        let frame = FrameSamples(layout) { plane, x, _ in plane == 0 ? x : 128 }
        let colour = try FrameColour(of: layout, container: .init(matrix: 1))
        let filters = [try Filter("CIColorControls", ["inputSaturation": .number(0.5)])]
        let found = try frame.edited(filters, colour, lane: .planes)
        #expect(found.samples == frame.samples)
    }

    @Test(arguments: [16, 18])
    func `HDR keeps its light through a filter that halves and doubles it`(
        _ transfer: Int
    ) throws {
        let layout = Self.layout(940, 16, bits: 10)
        let frame = FrameSamples(layout) { plane, x, _ in plane == 0 ? 64 + x % 876 : 512 }
        let colour = try FrameColour(
            of: layout, container: .init(primaries: 9, transfer: transfer, matrix: 9))
        func exposure(_ stops: Double) throws -> Filter {
            try Filter("CIExposureAdjust", ["inputEV": .number(stops)])
        }
        let found = try frame.edited(
            [try exposure(-1), try exposure(1)], colour, lane: .planes)
        #expect(found.difference(from: frame) <= 1)
        let darker = try frame.edited([try exposure(-1)], colour, lane: .planes)
        #expect(darker[0, 800, 0] < frame[0, 800, 0] - 20)
    }

    @Test func `colours of 10 bits that are looked up are those that are computed`() throws {
        let layout = Self.layout(320, 400, bits: 10)
        let scale = 4
        let smooth = FrameSamples(layout) { plane, x, y in
            let wave = sin(Double(x) / 23 + Double(2 * plane)) + cos(Double(y) / 17)
            return Int((128 + (plane == 0 ? 40 : 14) * wave) * Double(scale))
        }
        let colour = try FrameColour(
            of: layout, container: .init(primaries: 9, transfer: 18, matrix: 9))
        let sepia = try Filter("CISepiaTone", ["intensity": 0.8])
        let editor = try FrameEditor(
            Recipe(filters: [sepia]), layout: layout, colour: colour, upright: .upright)
        let (first, noisy, again) = (
            FrameSamples(layout), FrameSamples(layout), FrameSamples(layout)
        )
        try editor.edit(smooth.source, into: first.target)
        // Noise has the memo left out for some rows, and then its colours forgotten.
        for _ in 0..<3 { try editor.edit(Self.noise(layout).source, into: noisy.target) }
        try editor.edit(smooth.source, into: again.target)
        #expect(first.samples == again.samples)
    }

    @Test func `a frame that nothing is done to is copied, but for what has no sample of chroma`()
        throws
    {
        let layout = Self.layout(37, 21)
        let frame = Self.noise(layout)
        let found = try frame.edited([], try FrameColour(of: layout), lane: .planes)
        #expect(found.layout.width == 36 && found.layout.height == 20)
        for y in 0..<20 { for x in 0..<36 { #expect(found[0, x, y] == frame[0, x, y]) } }
        for y in 0..<10 { for x in 0..<18 { #expect(found[2, x, y] == frame[2, x, y]) } }
    }

    @Test func `a crop stays in the planes and begins at a sample of chroma`() throws {
        let layout = Self.layout(64, 48)
        let frame = Self.noise(layout)
        // 48 − 11 − 21 = 16 rows above.
        let crop = try Filter("CICrop", ["rectangle": [7, 11, 31, 21]])
        let found = try frame.edited([crop], try FrameColour(of: layout), lane: .planes)
        #expect(found.layout.width == 30 && found.layout.height == 20)
        #expect(found[0, 0, 0] == frame[0, 6, 16] && found[0, 29, 19] == frame[0, 35, 35])
        #expect(found[1, 0, 0] == frame[1, 3, 8] && found[2, 14, 9] == frame[2, 17, 17])
        let tiny = try Filter("CICrop", ["rectangle": [7, 11, 1, 21]])
        #expect(throws: Failure.self) { try frame.edited([tiny], try FrameColour(of: layout)) }
    }

    @Test(arguments: Orientation.allCases)
    func `a vignette is where it is in the upright frame`(_ upright: Orientation) throws {
        let layout = Self.layout(96, 64)
        let frame = Self.smooth(layout)
        let colour = try FrameColour(of: layout, container: .init(matrix: 1))
        let filters = [
            try Filter("CIVignetteEffect", ["center": [20, 30], "radius": 30, "intensity": 0.9])
        ]
        let found = try frame.edited(filters, colour, upright: upright, lane: .planes)
        let expected = try frame.turned(upright).edited(filters, colour, lane: .planes)
            .turned(upright.inverse)
        #expect(found.difference(from: expected) <= 1)
        #expect(found.difference(from: frame) > 20)
    }

    @Test func `codes above white are darkened by a vignette, not cut off`() throws {
        let layout = Self.layout(64, 64)
        let frame = FrameSamples(layout) { plane, _, _ in plane == 0 ? 250 : 128 }
        let colour = try FrameColour(of: layout, container: .init(matrix: 1))
        let filters = [
            try Filter("CIVignetteEffect", ["center": [0, 0], "radius": 60, "intensity": 0.9])
        ]
        let found = try frame.edited(filters, colour, lane: .planes)
        #expect(found[0, 0, 63] == 250 && found[1, 0, 31] == 128)
        #expect(found[0, 63, 0] < 120 && found[1, 31, 0] == 128)
    }
}
