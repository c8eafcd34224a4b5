import Adjustments
import Synchronization
import Vips

/// A summing filter on 8-bit photos, as tables of integers.
///
/// Per channel: one read for what it brings, one for what all three bring together, one for the code of
/// the result; no floating point. All numbers are linear light times 2¹³, of which an
/// 8-bit sRGB code is 2.5 steps wide where it is narrowest: twice that would leave the first-level cache.
///
/// Measured on 24 MP, one core, CISepiaTone: 80 ms by planes of floats, 45 ms by these tables (Zen 4).
final class SumTables: Sendable {
    /// Steps of linear light from 0 to 1.
    private static let steps = 1 << 13
    /// Bits of the index that are rounded away once the three parts are added.
    private static let indexFractionBits = 6
    /// Results beyond this many times white are left to the program in floats.
    private static let rangeMax = 32

    /// By channel and code: the part of the index above bit 32; below it, the channel's own part and
    /// where its codes begin.
    private let parts: Table<UInt64>
    /// By index: what is added to red, green and blue; the fourth of each is not used.
    private let shared: Table<UInt16>
    /// By sum: the code. One table after the other where the channels' curves differ.
    private let codes: Table<UInt8>

    private static let codesPerChannel = 256

    /// The tables of a filter, or nil when its results leave the range.
    private init?(_ filter: any SummingFilter, _ curves: [ToneCurve]) {
        let steps = Self.steps
        func fixed(_ value: Double) -> Int { Int((value * Double(steps)).rounded()) }
        let own = curves.map { curve in
            (0..<256).map { fixed(filter.own(curve.linear(Double($0) / 255))) }
        }
        let sharedParts = (0..<3).map { channel in
            (0...steps + 1).map {
                fixed(filter.shared(channel, min(1, Double($0) / Double(steps))))
            }
        }
        guard let ownLeast = own.joined().min(), let ownMost = own.joined().max(),
            let sharedLeast = sharedParts.joined().min(),
            let sharedMost = sharedParts.joined().max(),
            abs(ownLeast) < Self.rangeMax * steps, abs(ownMost) < Self.rangeMax * steps,
            sharedMost - sharedLeast <= UInt16.max
        else { return nil }

        let sums = ownMost - ownLeast + sharedMost - sharedLeast + 1
        let hasOneCurve = curves.allSatisfy { $0 == curves[0] }
        let indexSteps = Double(steps << Self.indexFractionBits)
        parts = Table(count: 3 * Self.codesPerChannel) { entry in
            let (channel, code) = entry.quotientAndRemainder(dividingBy: Self.codesPerChannel)
            let light = curves[channel].linear(Double(code) / 255)
            var index = UInt64((filter.index(channel, light) * indexSteps).rounded())
            // Half a step, once, so that cutting the fraction off rounds.
            if channel == 0 { index += 1 << UInt64(Self.indexFractionBits - 1) }
            let start = hasOneCurve ? 0 : channel * sums
            return index << 32 | UInt64(own[channel][code] - ownLeast + start)
        }
        shared = Table(count: 4 * (steps + 2)) { entry in
            let (index, channel) = entry.quotientAndRemainder(dividingBy: 4)
            return channel == 3 ? 0 : UInt16(sharedParts[channel][index] - sharedLeast)
        }
        codes = Table(count: hasOneCurve ? sums : 3 * sums) { entry in
            let (channel, sum) = entry.quotientAndRemainder(dividingBy: sums)
            let light = Double(sum + ownLeast + sharedLeast) / Double(steps)
            return UInt8(curves[channel].encoded(light) * 255 + 0.5)
        }
    }

    /// Runs over a rectangle of three 8-bit channels.
    ///
    /// One base address per table and 64-bit parts keep everything in registers: with nine tables
    /// the compiler spilled, and it took 38 instructions a pixel instead of 25.
    func run(_ input: RegionPixels, _ output: RegionPixels) {
        let (red, shared, codes) = (parts.values, shared.values, codes.values)
        let (green, blue) = (red + Self.codesPerChannel, red + 2 * Self.codesPerChannel)
        for row in 0..<output.area.height {
            var from = input.row(row).assumingMemoryBound(to: UInt8.self)
            var to = output.row(row).assumingMemoryBound(to: UInt8.self)
            for _ in 0..<output.area.width {
                let r = red[Int(from[0])]
                let g = green[Int(from[1])]
                let b = blue[Int(from[2])]
                let index = (r &+ g &+ b) &>> UInt64(32 + Self.indexFractionBits)
                let sums = shared + 4 &* Int(truncatingIfNeeded: index)
                to[0] = codes[Int(UInt32(truncatingIfNeeded: r) &+ UInt32(sums[0]))]
                to[1] = codes[Int(UInt32(truncatingIfNeeded: g) &+ UInt32(sums[1]))]
                to[2] = codes[Int(UInt32(truncatingIfNeeded: b) &+ UInt32(sums[2]))]
                from += 3
                to += 3
            }
        }
    }

    // A warm child mostly gets one recipe after the other that is the same: making the tables takes
    // some milliseconds, so a few stay.
    private static let keptMax = 4
    private static let kept = Mutex<[(filter: Filter, curves: [ToneCurve], tables: SumTables)]>([])

    /// The tables of a filter, made or kept; nil when it has no such form.
    static func tables(
        of filter: Filter, _ working: any PixelFilter, _ curves: [ToneCurve]
    ) -> SumTables? {
        guard let summing = working as? any SummingFilter else { return nil }
        if let found = kept.withLock({ kept in
            kept.first { $0.filter == filter && $0.curves == curves }?.tables
        }) {
            return found
        }
        guard let tables = SumTables(summing, curves) else { return nil }
        kept.withLock { kept in
            if kept.count == keptMax { kept.removeFirst() }
            kept.append((filter, curves, tables))
        }
        return tables
    }
}
