import Edits
import Files
import Foundation
import RenderProtocol
import Testing
import Codecs

@testable import Filters
@testable import Rendering

@Suite("Local filters and blend modes") struct LocalTests {
    private let studio: Studio
    private let source: String
    private let codes: [UInt8]
    private let width = 70
    private let height = 50

    init() throws {
        studio = try Studio()
        source = studio.path("in.png")
        codes = TestPicture.codes(width: 70, height: 50)
        try Image.fromPixels(codes, width: 70, height: 50, bands: 3).writePNG(to: source)
    }

    /// Puts a picture into the folder of resources; its digest.
    private func resource(_ codes: [UInt8], _ width: Int, _ height: Int, bands: Int) throws
        -> String
    {
        let path = studio.path("resource.png")
        try Image.fromPixels(codes, width: width, height: height, bands: bands).writePNG(to: path)
        return try resource(Picture.file(path))
    }

    private func resource(_ bytes: [UInt8]) throws -> String {
        let hex = try FileDigest.sha256(of: studio.write(bytes, as: "resource")).hex
        _ = try studio.write(bytes, as: hex)
        return "sha256:" + hex
    }

    private func light(_ code: Int) -> Double { Reference.decode(Double(code)) }
    private func code(_ x: Int, _ y: Int, _ band: Int) -> Int {
        Int(codes[(y * width + x) * 3 + band])
    }

    /// - Parameter expected: the light of a pixel, by its column, its row from the top, and its channel.
    private func expectEach(
        of picture: Picture, within most: Int = 1, _ expected: (Int, Int, Int) -> Double,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var worst = 0
        for y in 0..<height {
            for x in 0..<width {
                for band in 0..<3 {
                    let wanted = Reference.encode(expected(x, y, band))
                    worst = max(worst, abs(picture.pixel(x, y)[band] - wanted))
                }
            }
        }
        #expect(worst <= most, sourceLocation: sourceLocation)
    }

    /// The formulas of W3C's Compositing and Blending, once more.
    private static let modes: [(String, @Sendable (Double, Double) -> Double)] = {
        let screen: @Sendable (Double, Double) -> Double = { $0 + $1 - $0 * $1 }
        let hard: @Sendable (Double, Double) -> Double = {
            $1 <= 0.5 ? $0 * 2 * $1 : screen($0, 2 * $1 - 1)
        }
        return [
            ("CISourceOverCompositing", { $1 }), ("CIMultiplyBlendMode", { $0 * $1 }),
            ("CIScreenBlendMode", screen), ("CIOverlayBlendMode", { hard($1, $0) }),
            ("CIDarkenBlendMode", { min($0, $1) }), ("CILightenBlendMode", { max($0, $1) }),
            (
                "CIColorDodgeBlendMode",
                { $0 == 0 ? 0 : $1 == 1 ? 1 : min(1, $0 / (1 - $1)) }
            ),
            (
                "CIColorBurnBlendMode",
                { $0 == 1 ? 1 : $1 == 0 ? 0 : 1 - min(1, (1 - $0) / $1) }
            ),
            ("CIHardLightBlendMode", hard),
            (
                "CISoftLightBlendMode",
                { b, s in
                    let d = b <= 0.25 ? ((16 * b - 12) * b + 4) * b : b.squareRoot()
                    return s <= 0.5
                        ? b - (1 - 2 * s) * b * (1 - b) : b + (2 * s - 1) * (d - b)
                }
            ),
            ("CIDifferenceBlendMode", { abs($0 - $1) }),
            ("CIExclusionBlendMode", { $0 + $1 - 2 * $0 * $1 }),
        ]
    }()

    @Test(arguments: 0..<12)
    func `a blend mode is its formula on light, weighed by alpha and opacity`(_ index: Int) throws {
        let (name, blend) = Self.modes[index]
        let above = TestPicture.codes(width: 30, height: 20, bands: 4, seed: 3)
        let digest = try resource(above, 30, 20, bands: 4)
        let filter = try Filter(
            name,
            [
                "image": .text(digest), "position": [12, 5], "opacity": 0.7,
            ])
        let picture = try studio.pixels(of: source, [filter], resources: studio.folder)
        expectEach(of: picture) { x, y, band in
            let below = light(code(x, y, band))
            let (column, row) = (x - 12, y - (height - 5 - 20))
            guard (0..<30).contains(column), (0..<20).contains(row) else { return below }
            let index = (row * 30 + column) * 4
            let alpha = Double(above[index + 3]) / 255 * 0.7
            let mixed = blend(below, light(Int(above[index + band])))
            return below + (mixed - below) * alpha
        }
    }

    @Test func `a watermark grows with the photo and may stick out`() throws {
        let digest = try resource([UInt8](repeating: 255, count: 10 * 10 * 3), 10, 10, bands: 3)
        let filter = try Filter(
            "CISourceOverCompositing", ["image": .text(digest), "position": [-1, -1]])
        let recipe = try Recipe(
            filters: [filter], referenceSize: PixelSize(width: 35, height: 25))
        let report = try studio.render(
            source, recipe.resolved(for: PixelSize(width: 70, height: 50)).filters, format: .png,
            resources: studio.folder)
        let picture = try Picture(studio.path(report.output.name))
        // Twice as large: 20 pixels from (−2, −2).
        #expect(picture.pixel(17, 49 - 17) == [255, 255, 255])
        #expect(picture.pixel(18, 49) == (0..<3).map { code(18, 49, $0) })
        #expect(picture.pixel(17, 49 - 18) == (0..<3).map { code(17, 31, $0) })
    }

    @Test(arguments: ["linear", "encoded"])
    func `a mask weighs the filtered photo by its light, or by its codes`(_ space: String) throws {
        let gradient = try Filter(
            "CILinearGradient", ["point0": [10, 0], "point1": [60, 0]])
        let filter = try Filter(
            "CIBlendWithMask",
            [
                "filters": .filters([try Filter("CIColorInvert")]),
                "maskImage": .generator(gradient), "maskSpace": .text(space),
            ])
        let picture = try studio.pixels(of: source, [filter])
        expectEach(of: picture) { x, y, band in
            // White at the first point, black at the second.
            let mask = 1 - min(max((Double(x) + 0.5 - 10) / 50, 0), 1)
            let weight = space == "linear" ? mask : encoded(mask)
            let below = light(code(x, y, band))
            return below + (1 - below - below) * weight
        }
    }

    private func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    @Test(arguments: [
        "CILinearGradient", "CISmoothLinearGradient", "CIRadialGradient", "CIGaussianGradient",
    ])
    func `a gradient is its formula`(_ name: String) throws {
        let isLine = name.hasSuffix("LinearGradient")
        var parameters: [String: FilterValue] =
            isLine
            ? ["point0": [5, 8], "point1": [50, 40]]
            : name == "CIRadialGradient"
                ? ["center": [30, 20], "radius0": 4, "radius1": 25]
                : ["center": [30, 20], "radius": 40]
        parameters["color0"] = .vector([1, 0.5, 0, 1])
        parameters["color1"] = .vector([0, 0.2, 1, 0.5])
        let generator = try Filter(name, parameters)
        guard case .generator(let make) = generator.definition.kernel else { return }
        let size = PixelSize(width: width, height: height)
        let working = try make(generator, FilterContext(size: size))
        func share(_ x: Double, _ y: Double) -> Double {
            let line = ((x - 5) * 45 + (y - 8) * 32) / (45 * 45 + 32 * 32)
            let t = min(max(line, 0), 1)
            let distance = ((x - 30) * (x - 30) + (y - 20) * (y - 20)).squareRoot()
            switch name {
            case "CILinearGradient": return t
            case "CISmoothLinearGradient": return 3 * t * t - 2 * t * t * t
            case "CIRadialGradient": return min(max((distance - 4) / 21, 0), 1)
            default: return 1 - exp(-0.5 * pow(3 * distance / 40, 2))
            }
        }
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: 4 * width)
        defer { memory.deallocate() }
        for row in 0..<height {
            let chunk = PixelChunk(
                count: width, red: memory, green: memory + width, blue: memory + 2 * width,
                alpha: memory + 3 * width, x: 0.5, y: Double(row) + 0.5)
            working.apply(to: chunk)
            for x in 0..<width {
                let t = share(Double(x) + 0.5, Double(row) + 0.5)
                let alpha = (1 - t) + 0.5 * t
                // 0.5 is no code: its light is that of 127.5.
                let green =
                    (Reference.decode(127.5) * (1 - t) + Reference.decode(51) * 0.5 * t) / alpha
                #expect(abs(Double(chunk.alpha[x]) - alpha) < 1e-5)
                #expect(abs(Double(chunk.green[x]) - green) < 1e-5)
                #expect(abs(Double(chunk.red[x]) - (1 - t) / alpha) < 1e-5)
            }
        }
    }

    @Test func `a mask of another size is stretched over the photo`() throws {
        // Left half black, right half white: 2 by 1 pixels, with straight lines between their middles.
        let digest = try resource([0, 0, 0, 255, 255, 255], 2, 1, bands: 3)
        let filter = try Filter(
            "CIBlendWithMask",
            [
                "filters": .filters([try Filter("CIColorInvert")]),
                "maskImage": .generator(try Filter("picture", ["file": .text(digest)])),
            ])
        let picture = try studio.pixels(of: source, [filter], resources: studio.folder)
        expectEach(of: picture) { x, y, band in
            let weight = min(max((Double(x) + 0.5) / 35 - 0.5, 0), 1)
            let below = light(code(x, y, band))
            return below + (1 - below - below) * weight
        }
    }

    @Test func `what cannot be mixed is refused when it is planned`() throws {
        func failure(_ filter: Filter, resources: String? = nil) -> FailureCode? {
            do {
                _ = try studio.render(source, [filter], resources: resources)
                return nil
            } catch {
                return (error as? Failure)?.code
            }
        }
        let mask = try Filter("CIRadialGradient")
        func blend(_ inner: Filter, _ mask: Filter) throws -> Filter {
            try Filter(
                "CIBlendWithMask",
                ["filters": .filters([inner]), "maskImage": .generator(mask)])
        }
        #expect(failure(try blend(Filter("turn"), mask)) == .invalidValue)
        #expect(failure(try blend(Filter("CIEdges"), mask)) == .invalidValue)
        let nowhere = try Filter("CILinearGradient", ["point0": [5, 5], "point1": [5, 5]])
        #expect(failure(try blend(Filter("CIColorInvert"), nowhere)) == .invalidValue)
        let folder = studio.folder
        let unknown = "sha256:" + String(repeating: "0", count: 64)
        func over(_ digest: String, scale: Double = 1) throws -> Filter {
            try Filter(
                "CISourceOverCompositing", ["image": .text(digest), "scale": .number(scale)])
        }
        #expect(failure(try over(unknown)) == .missingResource)
        #expect(failure(try over(unknown), resources: folder) == .missingResource)
        let text = try resource(Array("no picture".utf8))
        #expect(failure(try over(text), resources: folder) == .badResource)
        let whole = try Picture.file(source)
        let cut = try resource(Array(whole.prefix(whole.count / 2)))
        #expect(failure(try over(cut), resources: folder) == .badResource)
        let good = try resource(whole)
        #expect(failure(try over(good, scale: 1000), resources: folder) == .badResource)
        #expect(failure(try over(good), resources: folder) == nil)
    }
}
