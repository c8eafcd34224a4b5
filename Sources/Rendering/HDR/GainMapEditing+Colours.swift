import Codecs
import Edits
import Filters
import Glibc
import PhotoFiles
import RenderProtocol

/// Recomputed gains for per-pixel filters: chunks of the photo and of its HDR version pass through the filters side by side. Only
/// the ratios of their light are kept.
extension GainMapEditing {
    /// The filters in runs that keep gains or do not; nil if a filter reads neighbours, produces alpha, or depends on the position
    /// after a geometry.
    static func colourRuns(of passes: [Pass]) -> [(filters: [any PixelFilter], keeps: Bool)]? {
        let movesPixels = passes.contains(where: \.isGeometry)
        let isColourEdit = passes.allSatisfy { pass in
            pass.isGeometry
                || pass.isPixels && !pass.changesAlpha
                    && (pass.isPositionIndependent || !movesPixels)
        }
        guard isColourEdit else { return nil }
        return runs(of: passes.filter(\.isPixels)).map { run in
            (
                run.passes.flatMap { pass -> [any PixelFilter] in
                    if case .pixels(let pixels) = pass { pixels.compactMap(\.working) } else { [] }
                }, run.keeps
            )
        }
    }

    /// Filters through which gains are recomputed in rows, and the size at which they run.
    struct Rows {
        let runs: [(filters: [any PixelFilter], keeps: Bool)]
        let size: PixelSize
    }

    /// Plans the rows; nil if whole pictures are needed.
    func rows() throws(Failure) -> Rows? {
        let (opened, size) = (photo.opened, workingSize)
        let planned = try Planner.passes(
            of: opened.recipe, for: opened.header, on: size, opened.resources)
        return Self.colourRuns(of: planned).map { Rows(runs: $0, size: size) }
    }

    /// Recomputes the gains in the photo's stored orientation, and turns the codes as it would turn the map's own.
    ///
    /// - Parameter photo: of the rows' size.
    func recomputed(_ rows: Rows, of photo: StandardImage) throws -> EditedGainMap {
        let size = rows.size
        let codes = try codes(size)
        let reading = PixelProgram(
            source: photo.layout, filters: [], target: .init(sample: .planes, bands: 3),
            height: size.height, colour: photo.colour, targetColour: .sRGB,
            background: self.photo.plan.output.background)
        var ratios = LightRatios(of: map, size)
        let pair = LightPair(map, rows.runs)
        let row = UnsafeMutablePointer<Float>.allocate(capacity: 3 * size.width)
        defer { row.deallocate() }
        try photo.image.stream { region in
            for line in 0..<region.area.height {
                let y = region.area.top + line
                reading.run(
                    region.row(line), at: (0, y), count: size.width, into: row,
                    stride: size.width)
                codes.withUnsafeBufferPointer { codes in
                    guard let start = codes.baseAddress else { return }
                    pair.run(
                        row, size.width, start + y * size.width * map.components,
                        y: size.height - 1 - y, into: &ratios)
                }
            }
            return true
        }
        guard let edited = ratios.coded(map.metadata) else {
            throw Failure(
                .internalError, "the gains of \(self.photo.file.name) have no range.")
        }
        guard let geometry else { return edited }
        return EditedGainMap(
            metadata: edited.metadata,
            pixels: try moved(edited.pixels, geometry, edited.metadata))
    }

    /// Returns factors of light by code, for red, green and blue.
    static func factors(of metadata: GainMapMetadata) -> [[Float]] {
        (0..<3).map { index in
            (0...255).map { code in
                Float(exp2(metadata.channel(index).gain(ofCode: Double(code) / 255)))
            }
        }
    }

    func codes(_ size: PixelSize) throws -> [UInt8] {
        let pixels = try photo.opened.companions.pixels(of: map, in: photo.file)
        guard pixels.width != size.width || pixels.height != size.height else {
            return pixels.codes
        }
        return try pixels.image().resized(width: size.width, height: size.height).pixels()
    }
}

/// Chunks of a photo and of its HDR version that pass through the same filters.
private struct LightPair {
    private let runs: [(filters: [any PixelFilter], keeps: Bool)]
    private let offsets: [LightRatios.Offsets]
    /// Channels of the map, 1 or 3.
    private let channels: Int
    /// Factors of light by codes, for red, green and blue.
    private let factors: [[Float]]
    /// Whether the photo before a filter must be kept.
    private let needsBefore: Bool

    init(_ map: GainMap, _ runs: [(filters: [any PixelFilter], keeps: Bool)]) {
        self.runs = runs
        offsets = LightRatios.offsets(of: map.metadata)
        channels = map.components
        factors = GainMapEditing.factors(of: map.metadata)
        needsBefore = runs.contains(where: \.keeps)
    }

    /// Processes a row of the photo in planes, which are overwritten, and its codes.
    ///
    /// - Parameter y: the row's bottom edge, counted from the bottom.
    func run(
        _ row: UnsafeMutablePointer<Float>, _ width: Int, _ codes: UnsafePointer<UInt8>, y: Int,
        into ratios: inout LightRatios
    ) {
        let capacity = PixelChunk.capacity
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 8 * capacity) { floats in
            guard let start = floats.baseAddress else { return }
            let alpha = start + 3 * capacity
            let before = start + 4 * capacity
            for left in stride(from: 0, to: width, by: capacity) {
                let count = min(capacity, width - left)
                func chunk(_ planes: UnsafeMutablePointer<Float>, _ stride: Int) -> PixelChunk {
                    PixelChunk(
                        count: count, red: planes, green: planes + stride,
                        blue: planes + 2 * stride, alpha: alpha, x: Double(left) + 0.5,
                        y: Double(y) + 0.5)
                }
                let (base, bright) = (chunk(row + left, width), chunk(start, capacity))
                let old = chunk(before, capacity)
                alpha.update(repeating: 1, count: count)
                brighten(base, codes + left * channels, into: bright)
                for run in runs {
                    if run.keeps { old.copyLight(of: base) }
                    base.run(run.filters)
                    if run.keeps {
                        keepGains(from: old, to: base, of: bright)
                    } else {
                        bright.run(run.filters)
                    }
                }
                ratios.append(base.planes, bright.planes, count: count)
            }
        }
    }

    /// (b + k)·2^g − k′
    private func brighten(
        _ base: PixelChunk, _ codes: UnsafePointer<UInt8>, into bright: PixelChunk
    ) {
        let step = channels
        for (channel, part) in zip(base.light, bright.light).enumerated() {
            let (offset, own) = (offsets[channel], step == 1 ? 0 : channel)
            factors[channel].withUnsafeBufferPointer { factors in
                for i in 0..<base.count {
                    part.1[i] =
                        (part.0[i] + offset.base) * factors[Int(codes[i &* step &+ own])]
                        - offset.alternate
                }
            }
        }
    }

    /// Computes the HDR light that has the same gains relative to a filter's result.
    private func keepGains(from old: PixelChunk, to new: PixelChunk, of bright: PixelChunk) {
        for channel in 0..<3 {
            let (before, after, light) = (
                old.light[channel], new.light[channel], bright.light[channel]
            )
            let offset = offsets[channel]
            for i in 0..<new.count {
                let below = before[i] + offset.base
                let ratio = (light[i] + offset.alternate) / (below > 1e-6 ? below : 1e-6)
                light[i] = (after[i] + offset.base) * ratio - offset.alternate
            }
        }
    }
}

extension PixelChunk {
    fileprivate var planes: LightRatios.Planes { (red, green, blue) }

    fileprivate var light: [UnsafeMutablePointer<Float>] { [red, green, blue] }

    fileprivate func copyLight(of other: PixelChunk) {
        for (plane, source) in zip(light, other.light) { plane.update(from: source, count: count) }
    }
}

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
