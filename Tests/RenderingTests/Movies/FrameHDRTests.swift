import Edits
import Codecs
import Filters
import RenderProtocol
import Testing

@testable import Rendering

@Suite("Filters of HDR movies") struct FrameHDRTests {
    private static let size = PixelSize(width: 64, height: 64)

    /// Filters that a movie with light above white refuses with their own default parameters. A new filter is refused until its
    /// definition says otherwise.
    private static let refused: Set = [
        "CICircularScreen", "CIColorBurnBlendMode", "CIColorClamp", "CIColorCube",
        "CIColorCubeWithColorSpace", "CIColorDodgeBlendMode", "CIColorInvert", "CIColorPosterize",
        "CIColorThreshold", "CIDotScreen", "CIEdgeWork", "CIEdges", "CIExclusionBlendMode",
        "CIFalseColor", "CIHatchedScreen", "CILineScreen", "CIPhotoEffectChrome",
        "CIPhotoEffectFade", "CIPhotoEffectInstant", "CIPhotoEffectMono", "CIPhotoEffectNoir",
        "CIPhotoEffectProcess", "CIPhotoEffectTonal", "CIPhotoEffectTransfer",
        "CISoftLightBlendMode", "css:brightness", "css:contrast", "css:grayscale",
        "css:hue-rotate", "css:invert", "css:saturate", "css:sepia", "cube",
    ]

    /// A filter of any definition, with files and inner filters that are not read.
    private static func filter(_ definition: FilterDefinition) throws -> Filter {
        var values: [String: FilterValue] = [:]
        for parameter in definition.parameters where parameter.defaultValue == nil {
            values[parameter.name] =
                switch parameter.kind {
                case .filters: .filters([try Filter("CIExposureAdjust", ["inputEV": 1])])
                case .generator: .generator(try Filter("CILinearGradient"))
                default: .text("sha256:" + String(repeating: "0", count: 64))
                }
        }
        return try Filter(definition.name, values)
    }

    @Test func `filters that end at white say so`() throws {
        let found = try FilterCatalogue.all.filter { definition in
            switch definition.kernel {
            case .geometry, .generator, .automatic, .sized: false
            case .pixel, .neighbourhood:
                definition.lightRange(of: try Self.filter(definition)) == .upToWhite
            }
        }
        #expect(Self.refused.subtracting(found.map(\.name)) == [])
    }

    @Test func `filters of single pixels that are right for it make more of more light`() throws {
        var tried = 0
        for definition in FilterCatalogue.all {
            guard case .pixel(let make) = definition.kernel,
                !definition.parameters.contains(where: { $0.defaultValue == nil })
            else { continue }
            let filter = try Filter(definition.name)
            guard definition.lightRange(of: filter) == .unlimited else { continue }
            let pixels = try make(filter, FilterContext(size: Self.size))
            var before: Float = 0
            for light in [1, 1.5, 3, 12, 49] as [Float] {
                let luminance = Self.luminance(of: light, pixels)
                #expect(luminance > before, "\(definition.name) of \(light)")
                before = luminance
            }
            tried += 1
        }
        #expect(tried > 15)
    }

    /// The luminance that a filter makes of a grey beside the middle.
    private static func luminance(of light: Float, _ filter: any PixelFilter) -> Float {
        var luminance: Float = 0
        LightChunk.with { memory in
            let chunk = memory.chunk(1)
            for plane in [chunk.red, chunk.green, chunk.blue] { plane[0] = light }
            chunk.alpha[0] = 1
            filter.apply(to: chunk)
            luminance = Luminance.of(chunk.red[0], chunk.green[0], chunk.blue[0])
        }
        return luminance
    }

    private static func edit(_ filter: Filter, transfer: Int) throws(Failure) -> FrameEditor {
        let layout = FrameLayout(width: 64, height: 64, bits: 10)
        return try FrameEditor(
            Recipe(filters: [filter]), layout: layout,
            colour: FrameColour(
                of: layout, container: .init(primaries: 9, transfer: transfer, matrix: 9)),
            upright: .upright)
    }

    @Test(arguments: [16, 18])
    func `a filter that ends at white is refused with a sentence`(_ transfer: Int) throws {
        let failure = try #require(throws: Failure.self) {
            try Self.edit(try Filter("CIPhotoEffectNoir"), transfer: transfer)
        }
        #expect(failure.code == .invalidValue)
        #expect(
            failure.message
                == "CIPhotoEffectNoir, with these parameters, is right for light up to white, and the movie is HDR (HLG or PQ), "
                + "with light above it that would be lost or come out wrong. Leave the filter out, or convert the movie to "
                + "SDR first.")
        #expect(throws: Never.self) {
            _ = try Self.edit(try Filter("CIPhotoEffectNoir"), transfer: 1)
        }
    }

    @Test func `a curve is refused where it is flat or falls above white`() throws {
        func curve(_ last: Double) throws -> Filter {
            try Filter(
                "CIToneCurve", ["inputPoint3": [0.75, 0.9], "inputPoint4": .vector([1, last])])
        }
        #expect(throws: Never.self) { _ = try Self.edit(try curve(1), transfer: 18) }
        #expect(throws: Failure.self) { _ = try Self.edit(try curve(0.7), transfer: 18) }
    }

    @Test func `sepia, black and white, and curves are let through for HLG`() throws {
        for name in [
            "CISepiaTone", "CIColorMonochrome", "CIToneCurve", "CIColorControls", "CIVibrance",
            "CIExposureAdjust", "CITemperatureAndTint", "CIHighlightShadowAdjust", "CIUnsharpMask",
        ] {
            let definition = try #require(FilterCatalogue.definition(named: name))
            #expect(definition.lightRange(of: try Filter(name)) == .unlimited)
        }
    }
}
