import Filters
import JPEG
import RenderProtocol
import Adjustments
import Files
import GainMaps
import Glibc
import Pixels
import Vips

/// Gains computed anew: the photo and what it is in HDR are edited side by side, small, in linear light without limits.
///
///     g′ = log2((F(h) + k′) / (clip(F(b)) + k)),   h = (b + k)·2^g − k′
///
/// A filter that only keeps gains runs over b; h becomes what has the same gains over its result.
extension GainMapEditing {
    /// Pixels of the small pictures; phones' maps have about as many. Seen: 105 bytes for each, of which 36 are the light of both and of
    /// what a filter makes.
    private static let pixelsMax = 1 << 20
    /// Stops by which a gain may leave the range that the map had.
    private static let extraStopsMax = 4.0

    /// Bytes that it takes for a map.
    static func lightBytes(_ map: GainMap) -> Int {
        112 * min(map.width * map.height, pixelsMax)
    }

    func recomputed() throws -> EditedGainMap {
        let size = workingSize
        let opened = photo.opened
        let planned = try Planner.passes(
            of: opened.recipe, for: opened.header, on: size, opened.resources)
        let offsets = (0..<3).map { channel in
            let channel = map.metadata.channel(channel)
            return (
                base: Float(channel.baseOffset.value),
                alternate: Float(channel.alternateOffset.value)
            )
        }
        let small = try photo.file.image(failOn: .truncated, copySize: size)
        var base = try run([], over: StandardImage(small))
        var bright = base.with(try gains(size), offsets)
        for (passes, keeps) in Self.runs(of: planned) {
            let next = try run(passes, over: base.standard())
            if keeps {
                let light = bright
                bright = next
                for place in next.light.indices {
                    let offset = offsets[place % 3]
                    let ratio =
                        (light.light[place] + offset.alternate)
                        / max(base.light[place] + offset.base, 1e-6)
                    bright.light[place] =
                        (next.light[place] + offset.base) * ratio - offset.alternate
                }
            } else {
                bright = try run(passes, over: bright.standard())
            }
            base = next
        }
        return try coded(base, bright, offsets)
    }

    /// The map's size, or that of as many pixels as are allowed.
    private var workingSize: PixelSize {
        let scale = min(1, (Double(Self.pixelsMax) / Double(map.width * map.height)).squareRoot())
        return PixelSize(
            width: max(1, Int(Double(map.width) * scale)),
            height: max(1, Int(Double(map.height) * scale)))
    }

    /// Factors of the light for each channel of each pixel.
    private func gains(_ size: PixelSize) throws -> [Float] {
        let pixels = try photo.opened.beside.pixels(of: map, in: photo.file)
        var image = try pixels.image()
        if image.width != size.width || image.height != size.height {
            image = try image.resized(width: size.width, height: size.height)
        }
        let tables = (0..<3).map { index in
            (0...255).map { code in
                Float(exp2(map.metadata.channel(index).gain(ofCode: Double(code) / 255)))
            }
        }
        let codes = try image.pixels()
        let channels = pixels.channels
        return (0..<size.pixels * 3).map { place in
            tables[place % 3][Int(codes[channels == 1 ? place / 3 : place])]
        }
    }

    /// Passes that run over both pictures, or over the photo alone.
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
            background: photo.plan.output.background, spool: photo.planned.spoolPlace(spool))
        return try LightPicture(runner.run(passes))
    }

    // MARK: Codes

    private func coded(
        _ base: LightPicture, _ bright: LightPicture,
        _ offsets: [(base: Float, alternate: Float)]
    ) throws(Failure) -> EditedGainMap {
        let channels = map.components
        let gains = base.gains(of: bright, channels, offsets)
        guard let metadata = map.metadata.reaching(gains, extra: Self.extraStopsMax) else {
            throw Failure(.internalError, "the gains of \(photo.file.name) have no range.")
        }
        let said = (0..<channels).map { metadata.channel($0) }
        let codes = gains.indices.map { place in
            UInt8((255 * said[place % channels].code(ofGain: Double(gains[place]))).rounded())
        }
        return EditedGainMap(
            metadata: metadata,
            pixels: GainMapPixels(
                width: base.width, height: base.height, channels: channels, codes: codes))
    }
}

/// A small picture in memory: linear sRGB without limits, three floats a pixel.
private struct LightPicture {
    let width, height: Int
    var light: [Float]

    init(_ image: Image) throws(VipsError) {
        (width, height) = (image.width, image.height)
        let bytes = try image.pixels()
        light = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    /// Brighter by factors.
    func with(_ factors: [Float], _ offsets: [(base: Float, alternate: Float)]) -> LightPicture {
        var bright = self
        for place in light.indices {
            let offset = offsets[place % 3]
            bright.light[place] = (light[place] + offset.base) * factors[place] - offset.alternate
        }
        return bright
    }

    /// As what passes run over.
    func standard() throws(VipsError) -> StandardImage {
        let bytes = light.withUnsafeBytes { Array($0) }
        return StandardImage(
            try Image.fromPixels(
                bytes, width: width, height: height, bands: 3, format: .float,
                interpretation: "scrgb"),
            layout: .init(sample: .linear, bands: 3), colour: .sRGB)
    }

    /// Gains in stops from this picture, as it is written, to a brighter one; of luminance for one channel.
    func gains(
        of bright: LightPicture, _ channels: Int, _ offsets: [(base: Float, alternate: Float)]
    ) -> [Float] {
        var gains: [Float] = []
        gains.reserveCapacity(width * height * channels)
        for pixel in 0..<width * height {
            var sums = (below: Float(0), above: Float(0))
            for channel in 0..<3 {
                let place = 3 * pixel + channel
                let below = max(min(max(light[place], 0), 1) + offsets[channel].base, 1e-4)
                let above = max(max(bright.light[place], 0) + offsets[channel].alternate, 1e-4)
                if channels == 3 {
                    gains.append(log2(above / below))
                } else {
                    let weight = Self.weights[channel]
                    sums.below += weight * below
                    sums.above += weight * above
                }
            }
            if channels == 1 { gains.append(log2(sums.above / sums.below)) }
        }
        return gains
    }

    /// Luminance of linear sRGB (BT.709-6 §3.2).
    private static let weights: [Float] = [0.2126, 0.7152, 0.0722]
}

extension GainMapMetadata {
    /// The same with a range that has some gains in it, as far as it may grow.
    fileprivate func reaching(_ gains: [Float], extra: Double) -> GainMapMetadata? {
        var (least, most) = (Double.infinity, -Double.infinity)
        for gain in gains where gain.isFinite {
            least = min(least, Double(gain))
            most = max(most, Double(gain))
        }
        guard least <= most else { return self }
        var grown = 0.0
        let channels = channels.map { channel in
            let low = max(min(least, channel.min.value), channel.min.value - extra)
            let high = min(max(most, channel.max.value), channel.max.value + extra)
            grown = max(grown, high - channel.max.value)
            return Channel(
                min: low < channel.min.value ? Fraction(nearest: low) ?? channel.min : channel.min,
                max: high > channel.max.value
                    ? Fraction(nearest: high) ?? channel.max : channel.max,
                gamma: channel.gamma, baseOffset: channel.baseOffset,
                alternateOffset: channel.alternateOffset)
        }
        return GainMapMetadata(
            channels: channels, baseHeadroom: baseHeadroom,
            alternateHeadroom: Fraction(nearest: alternateHeadroom.value + grown)
                ?? alternateHeadroom, usesBaseColour: usesBaseColour)
    }
}
