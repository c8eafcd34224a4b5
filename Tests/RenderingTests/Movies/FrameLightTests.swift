import Edits
import Codecs
import Filters
import Foundation
import RenderProtocol
import Testing

@testable import Rendering

@Suite("Frames in rows of light") struct FrameLightTests {
    /// Smooth colours, of any number of bits.
    private static func smooth(_ layout: FrameLayout) -> FrameSamples {
        let scale = Double(1 << (layout.bits - 8))
        return FrameSamples(layout) { plane, x, y in
            // In pixels, so that chroma lies in the middle of those that share it.
            let (across, down) = plane == 0 ? (1, 1) : (layout.across, layout.down)
            let (u, v) = ((Double(x) + 0.5) * Double(across), (Double(y) + 0.5) * Double(down))
            let wave = sin(u / 23 + Double(2 * plane)) + cos(v / 17 - Double(plane))
            return Int((128 + (plane == 0 ? 40 : 14) * wave) * scale)
        }
    }

    private static func layout(_ width: Int, _ height: Int, bits: Int = 8) -> FrameLayout {
        FrameLayout(width: width, height: height, bits: bits)
    }

    @Test(arguments: [1, 6, 9], [false, true])
    func `light that no filter changes becomes the same codes`(
        _ matrix: Int, _ isFullRange: Bool
    ) throws {
        for bits in [8, 10] {
            let layout = Self.layout(300, 70, bits: bits)
            let frame = Self.smooth(layout)
            let colour = try FrameColour(
                of: layout,
                container: .init(
                    primaries: matrix == 9 ? 9 : 1, matrix: matrix, isFullRange: isFullRange))
            let result = FrameSamples(layout)
            FrameRunner([], layout, colour, result: layout).edit(frame.source, into: result.target)
            #expect(result.difference(from: frame) <= 1)
        }
    }

    @Test(arguments: [18, 16])
    func `HDR of 10 bits comes back within one code`(_ transfer: Int) throws {
        let layout = Self.layout(1024, 4, bits: 10)
        let frame = FrameSamples(layout) { plane, x, _ in plane == 0 ? min(max(x, 8), 1010) : 512 }
        let colour = try FrameColour(
            of: layout, container: .init(primaries: 9, transfer: transfer, matrix: 9))
        let result = FrameSamples(layout)
        FrameRunner([], layout, colour, result: layout).edit(frame.source, into: result.target)
        #expect(result.difference(from: frame) <= 1)
    }

    @Test func `filters of colours give what they give in planes`() throws {
        let layout = Self.layout(128, 96)
        let frame = Self.smooth(layout)
        let colour = try FrameColour(of: layout, container: .init(primaries: 12, matrix: 1))
        let sepia = try Filter("CISepiaTone", ["intensity": 0.8])
        let planes = try frame.edited([sepia], colour, lane: .planes)
        let (steps, _) = try Planner.steps(
            of: Recipe(filters: [sepia]), on: PixelSize(width: 128, height: 96), limits: .init(),
            .none)
        let result = FrameSamples(layout)
        FrameRunner(
            Planner.passes(of: steps, keepsAlpha: false), layout, colour, result: layout
        ).edit(frame.source, into: result.target)
        #expect(result.difference(from: planes) <= 1)
    }

    private static let filters: [(String, [Filter])] = {
        func made(_ name: String, _ parameters: [String: FilterValue]) -> Filter {
            do { return try Filter(name, parameters) } catch { preconditionFailure("\(error)") }
        }
        return [
            ("blur", [made("CIGaussianBlur", ["radius": 5])]),
            ("motion", [made("CIMotionBlur", ["radius": 6, "angle": 0.6])]),
            ("straighten", [made("CIStraightenFilter", ["angle": 0.05])]),
            (
                "crop of a blur",
                [
                    made("CIGaussianBlur", ["radius": 3]),
                    made("CICrop", ["rectangle": [10, 8, 40, 36]]),
                ]
            ),
            ("scale", [made("CILanczosScaleTransform", ["scale": 0.5])]),
            (
                "turn between",
                [
                    made("CIGaussianBlur", ["radius": 3]), made("turn", ["degrees": 90]),
                    made("CIMotionBlur", ["radius": 6, "angle": 0.6]),
                ]
            ),
            (
                "vignette before",
                [
                    made(
                        "CIVignetteEffect", ["center": [20, 30], "radius": 30, "intensity": 0.9]),
                    made("CISepiaTone", ["intensity": 0.8]),
                ]
            ),
        ]
    }()

    @Test(arguments: 0..<7, [Orientation.left, .right, .half, .mirrored, .transposed])
    func `a frame as it is stored becomes what the upright one becomes, turned back`(
        _ index: Int, _ upright: Orientation
    ) throws {
        let (name, filters) = Self.filters[index]
        let layout = Self.layout(96, 64)
        let frame = Self.smooth(layout)
        let colour = try FrameColour(of: layout, container: .init(matrix: 1))
        let found = try frame.edited(filters, colour, upright: upright, lane: .frames)
        let expected = try frame.turned(upright).edited(filters, colour, lane: .frames)
            .turned(upright.inverse)
        #expect(
            found.layout.width == expected.layout.width
                && found.layout.height == expected.layout.height)
        let difference = found.difference(from: expected)
        #expect(difference <= 1, "\(name)")
    }
}
