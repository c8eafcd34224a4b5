import Edits
import Filters
import Testing
import Codecs

@testable import Rendering

/// What holds for every filter of single pixels, whichever it is.
@Suite("Every filter of single pixels") struct FilterPropertyTests {
    /// Filters that can be made without files, with their defaults.
    static let names = FilterCatalogue.all.filter { filter in
        guard case .pixel = filter.kernel else { return false }
        return filter.parameters.allSatisfy { $0.defaultValue != nil }
    }.map(\.name)

    private static let size = PixelSize(width: 640, height: 480)

    private func working(_ filter: Filter) throws -> any PixelFilter {
        guard case .pixel(let make) = filter.definition.kernel else {
            preconditionFailure("\(filter.name) is no filter of single pixels")
        }
        return try make(filter, FilterContext(size: Self.size))
    }

    /// Applies a filter to colours of linear light, four numbers each.
    private func apply(
        _ filter: any PixelFilter, to colours: [[Float]], x: Double = 0.5, y: Double = 0.5
    ) -> [[Float]] {
        let capacity = PixelChunk.capacity
        let planes = UnsafeMutablePointer<Float>.allocate(capacity: 4 * capacity)
        defer { planes.deallocate() }
        var results: [[Float]] = []
        for first in stride(from: 0, to: colours.count, by: capacity) {
            let some = colours[first..<min(first + capacity, colours.count)]
            for (i, colour) in some.enumerated() {
                for band in 0..<4 { planes[band * capacity + i] = colour[band] }
            }
            filter.apply(
                to: PixelChunk(
                    count: some.count, red: planes, green: planes + capacity,
                    blue: planes + 2 * capacity, alpha: planes + 3 * capacity, x: x, y: y))
            for i in 0..<some.count {
                results.append((0..<4).map { planes[$0 * capacity + i] })
            }
        }
        return results
    }

    /// A grid of 8-bit colours, 17 to the axis.
    private static let codes: [UInt8] = {
        let levels = (0...16).map { UInt8(min($0 * 16, 255)) }
        return levels.flatMap { r in levels.flatMap { g in levels.flatMap { b in [r, g, b] } } }
    }()

    @Test(arguments: names)
    func `parameters that change nothing change no code`(_ name: String) throws {
        let definition = try #require(FilterCatalogue.definition(named: name))
        var parameters: [String: FilterValue] = [:]
        for parameter in definition.parameters { parameters[parameter.name] = parameter.identity }
        guard !parameters.isEmpty else { return }
        let studio = try Studio()
        let source = studio.path("in.png")
        try Image.fromPixels(
            Self.codes, width: 17 * 17, height: 17, bands: 3
        ).writePNG(to: source)
        let picture = try studio.pixels(of: source, [Filter(name, parameters)])
        #expect(picture.bytes == Self.codes)
    }

    @Test(arguments: names)
    func `the position counts only for those that declare it`(_ name: String) throws {
        let filter = try working(Filter(name))
        guard !filter.usesPosition else { return }
        let colours = stride(from: 0, to: Self.codes.count, by: 3).map { i in
            Self.codes[i..<i + 3].map { Float($0) / 255 } + [1]
        }
        #expect(
            apply(filter, to: colours) == apply(filter, to: colours, x: 1234.5, y: -77.5))
    }

    @Test(arguments: names)
    func `no parameter and no light makes an infinite number or none`(_ name: String) throws {
        let definition = try #require(FilterCatalogue.definition(named: name))
        let lights: [Float] = [-65_504, -1, -1e-9, 0, 1e-30, 0.5, 1, 65_504]
        var colours: [[Float]] = []
        for r in lights {
            for g in lights { for b in lights { colours += [[r, g, b, 1], [r, g, b, 0]] } }
        }
        var sets: [[String: FilterValue]] = [[:]]
        for end in [\ClosedRange<Double>.lowerBound, \.upperBound] {
            var all: [String: FilterValue] = [:]
            for parameter in definition.parameters {
                guard let value = Self.extreme(parameter, end) else { continue }
                sets.append([parameter.name: value])
                all[parameter.name] = value
            }
            sets.append(all)
        }
        for parameters in sets {
            let filter: any PixelFilter
            do {
                filter = try working(Filter(name, parameters))
            } catch {
                #expect(error is Failure)
                continue
            }
            let isFinite = apply(filter, to: colours).allSatisfy { $0.allSatisfy(\.isFinite) }
            #expect(isFinite, "\(parameters)")
        }
    }

    private static func extreme(
        _ parameter: ParameterDefinition, _ end: KeyPath<ClosedRange<Double>, Double>
    ) -> FilterValue? {
        switch parameter.kind {
        case .number(let range, _): .number(range[keyPath: end])
        case .vector(let range, let units):
            .vector(Array(repeating: range[keyPath: end], count: units.count))
        case .color: .vector(Array(repeating: (0...1.0)[keyPath: end], count: 4))
        case .samples(let range, let count, _), .table(let range, let count, _):
            .vector(Array(repeating: range[keyPath: end], count: count.lowerBound))
        case .choice(let choices): choices.last.map(FilterValue.text)
        case .flag: true
        case .resource, .filters, .generator, .box, .focus: nil
        }
    }

    @Test(arguments: names)
    func `a photo without alpha and one of alpha 1 get the same codes`(_ name: String) throws {
        let studio = try Studio()
        let (plain, opaque) = (studio.path("plain.png"), studio.path("opaque.png"))
        try Image.fromPixels(Self.codes, width: 17 * 17, height: 17, bands: 3).writePNG(to: plain)
        let withAlpha = stride(from: 0, to: Self.codes.count, by: 3).flatMap { i in
            Self.codes[i..<i + 3] + [255]
        }
        try Image.fromPixels(withAlpha, width: 17 * 17, height: 17, bands: 4).writePNG(to: opaque)
        // The one goes through the memo of colours, the other does not.
        let without = try studio.pixels(of: plain, [Filter(name)], stem: "a")
        let with = try studio.pixels(of: opaque, [Filter(name)], stem: "b")
        let colours = stride(from: 0, to: with.bytes.count, by: 4).flatMap { i in
            with.bytes[i..<i + 3]
        }
        #expect(without.bytes == colours)
    }

    @Test(arguments: [
        "CIExposureAdjust:ev=0.7", "CIGammaAdjust:power=0.6", "CIHueAdjust:angle=2",
        "CIColorControls:saturation=2,contrast=1.3,brightness=0.1", "CIVibrance:amount=-0.6",
        "CIVibrance:amount=0.6", "CIToneCurve:point2=[0.5,0.7]", "CIColorInvert",
        "CIColorPosterize", "CIMaximumComponent", "CILinearToSRGBToneCurve",
        "CIPhotoEffectMono", "CIPhotoEffectNoir", "CIPhotoEffectTonal", "css:grayscale(1)",
        "css:saturate(3)", "css:hue-rotate(100deg)", "css:contrast(2)", "css:invert(0.8)",
    ])
    func `greys stay grey`(_ text: String) throws {
        let ramp = try ramp(text)
        for pixel in ramp { #expect((pixel.max() ?? 0) - (pixel.min() ?? 0) <= 1, "\(pixel)") }
    }

    /// Greys, and ways from black to colours that the photo of the fit has not.
    @Test(arguments: [
        "Mono", "Noir", "Tonal", "Chrome", "Fade", "Instant", "Process", "Transfer",
    ])
    func `a photo effect has neither steps nor tones that turn round`(_ effect: String) throws {
        let ramp = try ramp("CIPhotoEffect\(effect)")
        for band in 0..<3 {
            for (before, after) in zip(ramp, ramp.dropFirst()) {
                #expect((-1...5).contains(after[band] - before[band]), "\(before) \(after)")
            }
        }
        guard ["Chrome", "Fade"].contains(effect) else { return }
        for pixel in ramp { #expect((pixel.max() ?? 0) - (pixel.min() ?? 0) <= 8, "\(pixel)") }
    }

    /// The greys from black to white, through a filter.
    private func ramp(_ text: String) throws -> [[Int]] {
        let studio = try Studio()
        let source = studio.path("ramp.png")
        try Image.fromPixels(
            (0...255).flatMap { [UInt8($0), UInt8($0), UInt8($0)] }, width: 256, height: 1,
            bands: 3
        ).writePNG(to: source)
        let picture = try studio.pixels(of: source, [Filter(text: text, at: "filter")])
        return (0..<256).map { picture.pixel($0, 0) }
    }
}
