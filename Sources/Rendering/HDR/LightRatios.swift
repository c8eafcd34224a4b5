import Edits
import PhotoFiles
import Glibc

/// Ratios of light between a photo and its HDR version, for each sample of a gain map, and the codes made of them.
struct LightRatios {
    let size: PixelSize
    /// 1 or 3, interleaved.
    let channels: Int
    private let offsets: [Offsets]
    private var ratios: [Float]
    private var count = 0

    /// The light that is added to the photo before a channel's gain, and subtracted from its HDR version after it.
    struct Offsets {
        let base, alternate: Float
    }

    /// Some pixels in planes of linear light.
    typealias Planes = (
        red: UnsafeMutablePointer<Float>, green: UnsafeMutablePointer<Float>,
        blue: UnsafeMutablePointer<Float>
    )

    /// The least light that is used as a divisor or a dividend.
    private static let leastLight: Float = 1e-4
    /// Luminance of linear sRGB (BT.709-6 §3.2).
    private static let weights: [Float] = [0.2126, 0.7152, 0.0722]
    /// Stops by which a gain may exceed the range of the original map.
    private static let extraStopsMax = 4.0

    init(of map: GainMap, _ size: PixelSize) {
        (self.size, channels) = (size, map.components)
        offsets = Self.offsets(of: map.metadata)
        ratios = [Float](repeating: 1, count: size.pixels * map.components)
    }

    /// Returns the offsets of red, green and blue.
    static func offsets(of metadata: GainMapMetadata) -> [Offsets] {
        (0..<3).map { index in
            let channel = metadata.channel(index)
            return Offsets(
                base: Float(channel.baseOffset.value),
                alternate: Float(channel.alternateOffset.value))
        }
    }

    /// Adds the next pixels: those of the photo, clipped at white, and the brighter ones.
    mutating func append(_ base: Planes, _ bright: Planes, count pixels: Int) {
        let (first, offsets, isGrey) = (count, offsets, channels == 1)
        count += pixels * channels
        ratios.withUnsafeMutableBufferPointer { ratios in
            guard let start = ratios.baseAddress else { return }
            let out = start + first
            if isGrey {
                Self.luminance(base, bright, pixels, offsets, out)
            } else {
                let parts = [
                    (base.red, bright.red), (base.green, bright.green), (base.blue, bright.blue),
                ]
                for (channel, part) in parts.enumerated() {
                    let offset = offsets[channel]
                    for i in 0..<pixels {
                        out[3 &* i &+ channel] =
                            Self.above(part.1[i], offset) / Self.below(part.0[i], offset)
                    }
                }
            }
        }
    }

    private static func luminance(
        _ base: Planes, _ bright: Planes, _ pixels: Int, _ offsets: [Offsets],
        _ out: UnsafeMutablePointer<Float>
    ) {
        let (red, green, blue) = (offsets[0], offsets[1], offsets[2])
        let (r, g, b) = (weights[0], weights[1], weights[2])
        for i in 0..<pixels {
            let brighter =
                r * above(bright.red[i], red) + g * above(bright.green[i], green)
                + b * above(bright.blue[i], blue)
            let shown =
                r * below(base.red[i], red) + g * below(base.green[i], green)
                + b * below(base.blue[i], blue)
            out[i] = brighter / shown
        }
    }

    // Comparisons are false for NaN, so NaN counts as black.
    @inline(__always) private static func above(_ light: Float, _ offset: Offsets) -> Float {
        let sum = (light > 0 ? light : 0) + offset.alternate
        return sum > leastLight ? sum : leastLight
    }

    @inline(__always) private static func below(_ light: Float, _ offset: Offsets) -> Float {
        let shown = light > 0 ? light : 0
        let sum = (shown < 1 ? shown : 1) + offset.base
        return sum > leastLight ? sum : leastLight
    }

    // MARK: Codes

    /// The binary logarithm of a table's steps per octave: a code of a range of 2 stops spans sixteen steps.
    private static let stepBits = 11
    /// The low bits of a Float within one step.
    private static let shift = UInt32(23 - stepBits)
    /// The ratios that are distinguished.
    private static let range = Float(0x1p-40)...0x1p40

    /// Returns the codes of all samples, and metadata with a range that covers them.
    ///
    /// - Returns: nil if no metadata can express the range.
    func coded(_ metadata: GainMapMetadata) -> EditedGainMap? {
        precondition(count == ratios.count, "\(count) samples of \(ratios.count)")
        var (least, most) = (Float.infinity, Float(0))
        for ratio in ratios {
            least = ratio < least ? ratio : least
            most = ratio > most ? ratio : most
        }
        (least, most) = (Self.held(least), Self.held(most))
        guard
            let metadata = metadata.reaching(
                Double(log2(least)), Double(log2(most)), extra: Self.extraStopsMax)
        else { return nil }
        let first = Self.step(least)
        let tables = (0..<channels).map { channel in
            let channel = metadata.channel(channel)
            return (first...Self.step(most)).map { step in
                let gain = log2(Double(Float(bitPattern: step << Self.shift)))
                return UInt8((255 * channel.code(ofGain: gain)).rounded())
            }
        }
        let codes = [UInt8](unsafeUninitializedCapacity: ratios.count) { codes, count in
            ratios.withUnsafeBufferPointer { ratios in
                for (channel, table) in tables.enumerated() {
                    table.withUnsafeBufferPointer { table in
                        for index in stride(from: channel, to: ratios.count, by: tables.count) {
                            let step = Self.step(Self.held(ratios[index]))
                            codes[index] = table[Int(step - first)]
                        }
                    }
                }
            }
            count = ratios.count
        }
        return EditedGainMap(
            metadata: metadata,
            pixels: GainMapPixels(
                width: size.width, height: size.height, channels: channels, codes: codes))
    }

    private static func held(_ ratio: Float) -> Float {
        let least = ratio > range.lowerBound ? ratio : range.lowerBound
        return least < range.upperBound ? least : range.upperBound
    }

    /// Returns the step nearest to a ratio; a ratio of 1 is exactly a step.
    private static func step(_ ratio: Float) -> UInt32 {
        (ratio.bitPattern + 1 << (shift - 1)) >> shift
    }
}

extension GainMapMetadata {
    /// Returns the metadata with a range extended to these gains, within the limit.
    fileprivate func reaching(_ least: Double, _ most: Double, extra: Double) -> GainMapMetadata? {
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
