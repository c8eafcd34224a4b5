import Codecs
import Edits
import Files
import Filters
import Glibc
import PhotoFiles
import RenderProtocol

/// A gain map after an edit.
struct EditedGainMap {
    let metadata: GainMapMetadata
    let pixels: GainMapPixels
}

/// The edit of a photo's gain map, according to the plan.
///
/// It runs before the photo is written, because the photo's head contains the map's length.
struct GainMapEditing {
    let photo: Photo
    let map: GainMap
    let spool: SpoolSpace?

    /// Returns the edited map as the bytes of a JPEG.
    ///
    /// - Parameter scratch: the photo's own output, still unused; it is empty afterwards.
    /// - Throws: `JPEGError`, `HEICError`, `VipsError` or `Failure`.
    func jpeg(_ outcome: GainMapOutcome, scratch: OpenFile) throws -> [UInt8] {
        if outcome != .recomputed {
            let metadata = outcome == .carried ? carriedMetadata : map.metadata
            let same =
                geometry == nil
                ? rewrapped(as: metadata) : try transformed(as: metadata, scratch: scratch)
            if let same { return same }
        }
        let edited = try edited(outcome)
        return try GainMapWriter.jpeg(edited.pixels, edited.metadata, scratch: scratch)
    }

    /// Returns the edited map as codes.
    ///
    /// - Throws: `JPEGError`, `HEICError`, `VipsError` or `Failure`.
    func edited(_ outcome: GainMapOutcome) throws -> EditedGainMap {
        guard outcome != .recomputed else { return try recomputed() }
        return EditedGainMap(
            metadata: outcome == .carried ? carriedMetadata : map.metadata,
            pixels: try geometry.map {
                try moved(
                    photo.opened.companions.pixels(of: map, in: photo.file), $0, map.metadata)
            } ?? photo.opened.companions.pixels(of: map, in: photo.file))
    }

    var geometry: Geometry? { Planner.geometry(of: photo.planned.passes) }

    /// Returns the map's own coded pixels; nil if they are no JPEG, their meaning changes, or the JPEG's head cannot be parsed.
    private func rewrapped(as metadata: GainMapMetadata) -> [UInt8]? {
        guard map.codes == nil, let range = map.jpeg else { return nil }
        let bytes = photo.file.file.bytes(from: range.lowerBound, count: range.count)
        return UltraHDR.rewrapped(bytes, as: metadata)
    }

    /// Returns the map's own coefficients, cropped and turned; nil if they are no JPEG, their meaning changes, or the crop would
    /// split a block.
    private func transformed(
        as metadata: GainMapMetadata, scratch: OpenFile
    ) throws -> [UInt8]? {
        guard map.codes == nil, let range = map.jpeg, let geometry,
            case let mapGeometry = mapGeometry(
                geometry, on: PixelSize(width: map.width, height: map.height)),
            mapGeometry.isLossless
        else { return nil }
        let reader = try JPEGReader(
            photo.file.descriptor, from: range.lowerBound,
            limits: photo.file.jpegLimits(coefficientBytesMax: 2 * PhotoCompanions.samplesMax))
        let transform = JPEGTransform(lossless: mapGeometry)
        guard transform.obstacle(for: reader.header.layout) == nil else { return nil }
        try transform.write(
            reader, to: scratch.descriptor, markers: GainMapWriter.markers(metadata))
        return try GainMapWriter.cutBytes(from: scratch)
    }

    /// The map's metadata with offsets that went through the filters as light does.
    ///
    /// Offsets are added to the base's light, so F((b + k)·2^g − k) = (F(b) + F(k))·2^g − F(k) for a filter that multiplies light.
    /// With unchanged offsets, a photo that becomes 1 stop darker is wrong by 0.04 stops on average. One number stands for the
    /// three channels: the luminance. Filters that depend on the position multiply by a factor per pixel, and no single offset
    /// would be right.
    private var carriedMetadata: GainMapMetadata {
        let filters = photo.planned.pixelFilters.filter { !$0.usesPosition }
        // Avoids needless rounding.
        guard !filters.isEmpty else { return map.metadata }
        return map.metadata.withOffsets { filters.light(ofGrey: Float($0)) }
    }

    // MARK: Geometry

    /// Returns the photo's geometry applied to a map of this size: one lookup.
    private func mapGeometry(_ geometry: Geometry, on size: PixelSize) -> Geometry {
        // As in the photo, the last row and column are whole. Otherwise they would fade to no gain.
        geometry.seen(on: size).withoutPartialEdges
    }

    /// Returns the codes moved by a geometry of the photo.
    func moved(
        _ pixels: GainMapPixels, _ geometry: Geometry, _ metadata: GainMapMetadata
    ) throws -> GainMapPixels {
        let mapGeometry = mapGeometry(
            geometry, on: PixelSize(width: pixels.width, height: pixels.height))
        if mapGeometry.isLossless { return pixels.moved(mapGeometry) }
        let channels = pixels.channels
        var runner = PassRunner(
            StandardImage(
                try pixels.image(), layout: .init(sample: .encoded8, bands: channels),
                colour: .codesAsLight),
            target: .init(sample: .encoded8, bands: 4), targetColour: .codesAsLight,
            background: .white, spool: photo.planned.spoolStorage(spool))
        let result = try runner.run(
            Planner.passes(of: [.geometry(mapGeometry)], keepsAlpha: true))
        // A pixel outside the photo is equally bright on every screen.
        let neutral = (0..<3).map { Float(255 * metadata.channel($0).neutralCode) }
        var codes: [UInt8] = []
        codes.reserveCapacity(result.width * result.height * channels)
        try result.eachRow { row in
            for column in 0..<result.width {
                let pixel = row + 4 * column
                if pixel[3] == 255 {
                    for channel in 0..<channels { codes.append(pixel[channel]) }
                    continue
                }
                for channel in 0..<channels {
                    let alpha = Float(pixel[3]) / 255
                    let code = Float(pixel[channel]) * alpha + neutral[channel] * (1 - alpha)
                    codes.append(UInt8(min(max(code, 0), 255).rounded()))
                }
            }
        }
        return GainMapPixels(
            width: result.width, height: result.height, channels: channels, codes: codes)
    }
}

extension [any PixelFilter] {
    /// Returns the luminance of the filters' result for a grey, in linear light.
    fileprivate func light(ofGrey light: Float) -> Double {
        var (red, green, blue, alpha) = (light, light, light, Float(1))
        withUnsafeMutablePointer(to: &red) { red in
            withUnsafeMutablePointer(to: &green) { green in
                withUnsafeMutablePointer(to: &blue) { blue in
                    withUnsafeMutablePointer(to: &alpha) { alpha in
                        let chunk = PixelChunk(
                            count: 1, red: red, green: green, blue: blue, alpha: alpha)
                        for filter in self { filter.apply(to: chunk) }
                    }
                }
            }
        }
        return Double(Luminance.of(red, green, blue))
    }
}

extension PhotoColour {
    /// Identity curves, for numbers that are not light: neither conversion changes them.
    static let codesAsLight = PhotoColour(curves: [.gamma(1), .gamma(1), .gamma(1)])
}

extension GainMapPixels {
    func image() throws(VipsError) -> Image {
        try Image.fromPixels(
            codes, width: width, height: height, bands: channels,
            interpretation: channels == 1 ? "b-w" : "srgb")
    }
}

extension Image {
    /// Computes the picture and passes on each row of 8-bit samples, from top to bottom.
    func eachRow(_ body: (UnsafePointer<UInt8>) -> Void) throws(VipsError) {
        try stream { region in
            for row in 0..<region.area.height {
                body(region.row(row).assumingMemoryBound(to: UInt8.self))
            }
            return true
        }
    }
}

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
