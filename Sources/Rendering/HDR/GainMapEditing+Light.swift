import Filters
import Codecs
import RenderProtocol
import Edits
import Files
import PhotoFiles
import Glibc

/// Recomputed gains: the photo and its HDR version are edited side by side at a small size, in unbounded linear light.
///
///     g′ = log2((F(h) + k′) / (clip(F(b)) + k)),   h = (b + k)·2^g − k′
///
/// A filter that keeps gains runs only over b; h becomes the light with the same gains relative to its result.
extension GainMapEditing {
    /// Pixels of the small pictures; maps of phones have about as many. Measured: 105 bytes per pixel, of which 36 are the light of
    /// both pictures and of a filter's result.
    private static let pixelsMax = 1 << 20

    /// The bytes that recomputing a map needs.
    static func lightBytes(_ map: GainMap, isColourEdit: Bool) -> Int {
        // In rows: the photo, the codes before and after, and a ratio of light for each sample.
        (isColourEdit ? 4 + 8 * map.components : 112) * min(map.width * map.height, pixelsMax)
    }

    func recomputed() throws -> EditedGainMap {
        let size = workingSize
        let opened = photo.opened
        if let rows = try rows() {
            return try recomputed(
                rows,
                of: StandardImage(photo.file.image(failOn: .truncated, copySize: size)))
        }
        let planned = try Planner.passes(
            of: opened.recipe, for: opened.header, on: size, opened.resources)
        let offsets = LightRatios.offsets(of: map.metadata)
        let small = try photo.file.image(failOn: .truncated, copySize: size)
        var base = try run([], over: StandardImage(small))
        var bright = try base.brightened(by: codes(size), map, offsets)
        for (passes, keeps) in Self.runs(of: planned) {
            let next = try run(passes, over: base.standard())
            bright =
                keeps
                ? next.keeping(gainsFrom: base, to: bright, offsets)
                : try run(passes, over: bright.standard())
            base = next
        }
        var ratios = LightRatios(
            of: map, PixelSize(width: base.width, height: base.height))
        base.append(to: &ratios, bright)
        guard let edited = ratios.coded(map.metadata) else {
            throw Failure(.internalError, "the gains of \(photo.file.name) have no range.")
        }
        return edited
    }

    /// The map's size, or a smaller size with the allowed number of pixels.
    var workingSize: PixelSize {
        let scale = min(1, (Double(Self.pixelsMax) / Double(map.width * map.height)).squareRoot())
        return PixelSize(
            width: max(1, Int(Double(map.width) * scale)),
            height: max(1, Int(Double(map.height) * scale)))
    }

    /// Groups passes into runs over both pictures, or over the photo alone.
    static func runs(of passes: [Pass]) -> [(passes: [Pass], keeps: Bool)] {
        let parts = passes.flatMap { pass -> [(Pass, Bool)] in
            switch pass {
            case .geometry: [(pass, false)]
            case .neighbourhood(let filter, _): [(pass, GainMapRules.effect(of: filter) == .kept)]
            case .pixels(let pixels):
                pixels.map { pixel in
                    (
                        .pixels([pixel]),
                        pixel.filters.contains { GainMapRules.effect(of: $0) == .kept }
                    )
                }
            }
        }
        return parts.reduce(into: []) { runs, part in
            if let last = runs.last, last.keeps == part.1 {
                runs[runs.count - 1].passes.append(part.0)
            } else {
                runs.append(([part.0], part.1))
            }
        }
    }

    private func run(_ passes: [Pass], over image: StandardImage) throws -> LightPicture {
        var runner = PassRunner(
            image, target: .init(sample: .linear, bands: 3), targetColour: .sRGB,
            background: photo.plan.output.background, spool: photo.planned.spoolStorage(spool))
        return try LightPicture(runner.run(passes))
    }
}

/// A small picture in memory: unbounded linear sRGB, three floats a pixel.
///
/// `@unchecked Sendable` is safe because the light is never written after initialization.
private final class LightPicture: @unchecked Sendable {
    let width, height: Int
    private let light: UnsafeMutablePointer<Float>

    private init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        light = .allocate(capacity: 3 * width * height)
    }

    deinit { light.deallocate() }

    /// Computes a picture of three floats a pixel.
    convenience init(_ image: Image) throws(VipsError) {
        self.init(width: image.width, height: image.height)
        let (light, samples) = (light, 3 * width)
        try image.stream { region in
            for row in 0..<region.area.height {
                (light + (region.area.top + row) * samples).update(
                    from: region.row(row).assumingMemoryBound(to: Float.self), count: samples)
            }
            return true
        }
    }

    /// Returns a picture whose samples are made of this picture's samples and their indices.
    private func mapped(_ make: (_ index: Int, _ light: Float) -> Float) -> LightPicture {
        let picture = LightPicture(width: width, height: height)
        for index in 0..<3 * width * height { picture.light[index] = make(index, light[index]) }
        return picture
    }

    /// Returns the picture in HDR.
    func brightened(by codes: [UInt8], _ map: GainMap, _ offsets: [LightRatios.Offsets])
        -> LightPicture
    {
        let factors = GainMapEditing.factors(of: map.metadata)
        let isGrey = map.components == 1
        return mapped { index, light in
            let channel = index % 3
            return (light + offsets[channel].base)
                * factors[channel][Int(codes[isGrey ? index / 3 : index])]
                - offsets[channel].alternate
        }
    }

    /// Returns the light that has the gains over this picture that a brighter picture has over another one.
    func keeping(
        gainsFrom base: LightPicture, to bright: LightPicture, _ offsets: [LightRatios.Offsets]
    ) -> LightPicture {
        mapped { index, light in
            let offset = offsets[index % 3]
            let ratio =
                (bright.light[index] + offset.alternate)
                / max(base.light[index] + offset.base, 1e-6)
            return (light + offset.base) * ratio - offset.alternate
        }
    }

    /// Returns the picture in the form that passes read.
    func standard() throws(VipsError) -> StandardImage {
        StandardImage(
            try Image.over(
                UnsafeRawBufferPointer(
                    UnsafeBufferPointer(start: light, count: 3 * width * height)), of: self,
                width: width, height: height, bands: 3, format: .float, interpretation: "scrgb"),
            layout: .init(sample: .linear, bands: 3), colour: .sRGB)
    }

    /// Adds the gains from this picture to a brighter one.
    func append(to ratios: inout LightRatios, _ bright: LightPicture) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 6 * width) { floats in
            guard let start = floats.baseAddress else { return }
            func planes(_ first: Int) -> LightRatios.Planes {
                (start + first * width, start + (first + 1) * width, start + (first + 2) * width)
            }
            for row in 0..<height {
                let from = 3 * row * width
                for column in 0..<width {
                    for channel in 0..<3 {
                        let index = from + 3 * column + channel
                        start[channel * width + column] = light[index]
                        start[(3 + channel) * width + column] = bright.light[index]
                    }
                }
                ratios.append(planes(0), planes(3), count: width)
            }
        }
    }
}
