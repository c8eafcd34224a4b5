import Edits
import RenderProtocol
import Testing
import Codecs

@testable import Rendering

/// Comparison with pixels that Core Image rendered of one photo, the flower.
@Suite("Golden pixels") struct GoldenTests {
    /// A filter as text, and the file of Core Image's result.
    struct Pair: Sendable, CustomTestStringConvertible {
        let file: String
        let filter: String
        /// What was measured, and half a code.
        let rmsMax: Double
        /// Greatest difference of a code, where there is no noise of aligning.
        var most = 255
        /// What is cut off a screenshot's left and top.
        var shift = (x: 0, y: 0)
        var testDescription: String { file }
    }

    // The photo has 638 × 475 pixels, of which the exact files keep 320 × 240 from (150, 100) on.
    private static let cut = (x: 150, y: 100)

    /// Black, red, …, white, but the second node is blue with a tenth of red.
    private static let table =
        "[0,0,0,1, 0.1,0,1,1, 0,1,0,1, 1,1,0,1, 0,0,1,1, 1,0,1,1, 0,1,1,1, 1,1,1,1]"

    @Test(arguments: [
        Pair(
            file: "color_clamp",
            filter: "CIColorClamp:minComponents=[0.1,0,0.1,0],maxComponents=[0.6,1,0.6,1]",
            rmsMax: 0.5, most: 1),
        Pair(file: "color_posterize", filter: "CIColorPosterize:levels=8", rmsMax: 0.5, most: 0),
        Pair(
            file: "color_cross_polynomial",
            filter: "CIColorCrossPolynomial:blueCoefficients=[1,0,1,0,-20,0,0,0,0,0]",
            rmsMax: 0.5, most: 1),
        Pair(
            file: "color_cube", filter: "CIColorCube:cubeData=\(Self.table)", rmsMax: 0.5,
            most: 1),
        Pair(
            file: "color_cube_with_color_space",
            filter: "CIColorCubeWithColorSpace:cubeData=\(Self.table)", rmsMax: 0.5, most: 1),
        Pair(file: "maximum_component", filter: "CIMaximumComponent", rmsMax: 0.5, most: 1),
        Pair(file: "minimum_component", filter: "CIMinimumComponent", rmsMax: 0.5, most: 1),
        Pair(
            file: "linear2Srgb_tone_curve", filter: "CILinearToSRGBToneCurve", rmsMax: 0.5,
            most: 1),
        Pair(
            file: "srgb_tone_curve2linear", filter: "CISRGBToneCurveToLinear", rmsMax: 0.5,
            most: 1),
        Pair(file: "line_screen", filter: "CILineScreen", rmsMax: 0.5, most: 1),
        Pair(file: "cilcular_screen", filter: "CICircularScreen", rmsMax: 0.5, most: 1),
        Pair(file: "hatched_screen", filter: "CIHatchedScreen", rmsMax: 0.5, most: 1),
        Pair(file: "dot_screen", filter: "CIDotScreen", rmsMax: 0.5, most: 1),
        Pair(
            file: "vignette_effect",
            filter: "CIVignetteEffect:center=[191.4,223.3],intensity=0.6,radius=127.6",
            rmsMax: 0.5, most: 1),
        Pair(
            file: "photo_effect_mono", filter: "CIPhotoEffectMono", rmsMax: 1.1),
        Pair(
            file: "photo_effect_noir", filter: "CIPhotoEffectNoir", rmsMax: 1.4),
        Pair(
            file: "photo_effect_tonal", filter: "CIPhotoEffectTonal", rmsMax: 1.1),
        Pair(
            file: "photo_effect_chrome", filter: "CIPhotoEffectChrome", rmsMax: 2.4),
        Pair(
            file: "photo_effect_fade", filter: "CIPhotoEffectFade", rmsMax: 1.0),
        Pair(
            file: "photo_effect_instant", filter: "CIPhotoEffectInstant", rmsMax: 1.4),
        Pair(
            file: "photo_effect_process", filter: "CIPhotoEffectProcess", rmsMax: 1.6),
        Pair(
            file: "photo_effect_transfer", filter: "CIPhotoEffectTransfer", rmsMax: 1.6),
    ])
    func `the filter gives Core Image's own codes`(_ pair: Pair) throws {
        let ours = try render(pair.filter)
        let golden = try golden(pair.file)
        var sum = 0.0
        var most = 0
        for y in 0..<golden.height {
            let row = (y + Self.cut.y) * ours.width + Self.cut.x
            for x in 0..<golden.width {
                for band in 0..<3 {
                    // Grey files have one channel.
                    let index = (y * golden.width + x) * golden.bands + band % golden.bands
                    let d = Int(ours.bytes[3 * (row + x) + band]) - Int(golden.bytes[index])
                    sum += Double(d * d)
                    most = max(most, abs(d))
                }
            }
        }
        let rms = (sum / Double(golden.width * golden.height * 3)).squareRoot()
        #expect(rms <= pair.rmsMax && most <= pair.most, "RMS \(rms), most \(most)")
    }

    /// Screenshots of the result squeezed into a view of 320 × 460 pixels, cut by some whole pixels, which were
    /// found by least squares. The aligning itself leaves about 1 of 255.
    @Test(arguments: [
        Pair(
            file: "SepiaTone", filter: "CISepiaTone:intensity=0.8", rmsMax: 1.64, shift: (2, 1)),
        // Inverting spreads the darks.
        Pair(file: "ColorInvert", filter: "CIColorInvert", rmsMax: 1.64, shift: (2, 1)),
        Pair(file: "ExposureAdjust", filter: "CIExposureAdjust:ev=2", rmsMax: 1.74, shift: (0, 2)),
        Pair(file: "GammaAdjust", filter: "CIGammaAdjust:power=3", rmsMax: 1.53, shift: (3, 1)),
        Pair(file: "HueAdjust", filter: "CIHueAdjust:angle=1", rmsMax: 1.6, shift: (3, 1)),
        Pair(
            file: "ColorControls",
            filter: "CIColorControls:brightness=0.5,saturation=1.2,contrast=3.1", rmsMax: 1.58,
            shift: (2, 2)),
        Pair(
            file: "ColorMonochrome", filter: "CIColorMonochrome:color=#ff00ff", rmsMax: 1.57,
            shift: (5, -1)),
        Pair(
            file: "FalseColor", filter: "CIFalseColor:color0=#ffff00,color1=#ff00ff",
            rmsMax: 1.26, shift: (2, 2)),
        Pair(
            file: "WhitePointAdjust", filter: "CIWhitePointAdjust:color=#ff00ff", rmsMax: 1.3,
            shift: (3, 1)),
        Pair(
            file: "ToneCurve",
            filter: "CIToneCurve:point1=[0.1,0.5],point2=[0.3,0.15],point3=[0.6,0.6],"
                + "point4=[1.1,1]", rmsMax: 2.04, shift: (3, 0)),
        Pair(
            file: "TemperatureTint", filter: "CITemperatureAndTint:targetNeutral=[4000,0]",
            rmsMax: 2.55, shift: (-1, 0)),
        Pair(file: "Vibrance", filter: "CIVibrance:amount=-1", rmsMax: 7.5, shift: (2, 1)),
        Pair(
            file: "Vignette", filter: "CIVignette:intensity=2,radius=10", rmsMax: 2.2,
            shift: (1, 1)),
    ])
    func `the filter agrees with a screenshot of Core Image's result`(_ pair: Pair) throws {
        let ours = try render(pair.filter)
        let golden = try golden(pair.file)
        let margin = 12
        var sum = 0.0
        var count = 0
        for y in margin..<golden.height - margin - 40 {
            let sourceY = 475 / 460 * (Double(y + pair.shift.y) + 0.5) - 0.5
            for x in margin..<golden.width - margin {
                let sourceX = min(
                    638 / 320 * (Double(x + pair.shift.x) + 0.5) - 0.5, Double(ours.width) - 1.1)
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

    private func golden(_ file: String) throws -> Picture {
        try Picture(Studio.fixture("Golden/\(file).png"))
    }

    /// The flower with one filter, taken as sRGB, without its profile, as the golden files were made.
    private func render(_ filter: String) throws -> Picture {
        let studio = try Studio()
        let source = studio.path("flower.png")
        try Picture(Studio.fixture("flower.png")).image.changing([.remove("icc-profile-data")])
            .writePNG(to: source)
        return try studio.pixels(of: source, [Filter(text: filter, at: "filter")])
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
