import Adjustments
import Synchronization
import Vips

/// A summing filter on 8-bit photos, as tables of integers.
///
/// Per pixel: three reads for what the channels bring, one for what they bring together, three for
/// the codes of the results; no floating point. All numbers are linear light times 2¹³, of which an
/// 8-bit sRGB code is 2.5 steps wide where it is narrowest: twice that would leave the first-level cache.
///
/// Measured on 24 MP, one core, CISepiaTone: 80 ms by planes of floats, 29 ms by these tables.
final class SumTables: Sendable {
    /// Steps of linear light from 0 to 1.
    private static let steps = 1 << 13
    /// Bits of the index that are rounded away once the three parts are added.
    private static let indexFractionBits = 6
    /// Results beyond this many times white are left to the program in floats.
    private static let rangeMax = 32

    /// By code, per channel: the part of the index above bit 32, the channel's own part below.
    private let parts: [Table<UInt64>]
    /// By index: what is added to red, green and blue, 20 bits each from the lowest.
    private let shared: Table<UInt64>
    /// By sum, per channel: the code.
    private let codes: [Table<UInt8>]

    private static let fieldBits: UInt64 = 20
    private static let fieldMask: UInt64 = 1 << fieldBits - 1

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
            [ownLeast, ownMost, sharedLeast, sharedMost].allSatisfy({
                abs($0) < Self.rangeMax * steps / 2
            })
        else { return nil }

        let indexSteps = Double(steps << Self.indexFractionBits)
        parts = curves.enumerated().map { channel, curve in
            Table(count: 256) { code in
                let light = curve.linear(Double(code) / 255)
                var index = UInt64((filter.index(channel, light) * indexSteps).rounded())
                // Half a step, once, so that cutting the fraction off rounds.
                if channel == 0 { index += 1 << UInt64(Self.indexFractionBits - 1) }
                return index << 32 | UInt64(own[channel][code] - ownLeast)
            }
        }
        shared = Table(count: steps + 2) { entry in
            (0..<3).reduce(into: UInt64(0)) { packed, channel in
                packed |=
                    UInt64(sharedParts[channel][entry] - sharedLeast)
                    << (Self.fieldBits * UInt64(channel))
            }
        }
        var codes: [Table<UInt8>] = []
        for (channel, curve) in curves.enumerated() {
            // One table for curves that are the same: the cache holds it once.
            codes.append(
                channel > 0 && curve == curves[0]
                    ? codes[0]
                    : Table(count: ownMost - ownLeast + sharedMost - sharedLeast + 1) { sum in
                        let light = Double(sum + ownLeast + sharedLeast) / Double(steps)
                        return UInt8(curve.encoded(light) * 255 + 0.5)
                    })
        }
        self.codes = codes
    }

    /// Runs over a rectangle of three 8-bit channels.
    func run(_ input: RegionPixels, _ output: RegionPixels) {
        let (red, green, blue) = (parts[0].values, parts[1].values, parts[2].values)
        let (redCodes, greenCodes, blueCodes) = (codes[0].values, codes[1].values, codes[2].values)
        let shared = shared.values
        let mask = Self.fieldMask
        for row in 0..<output.area.height {
            var from = input.row(row).assumingMemoryBound(to: UInt8.self)
            var to = output.row(row).assumingMemoryBound(to: UInt8.self)
            for _ in 0..<output.area.width {
                let r = red[Int(from[0])]
                let g = green[Int(from[1])]
                let b = blue[Int(from[2])]
                let index = (r &+ g &+ b) &>> UInt64(32 + Self.indexFractionBits)
                let sum = shared[Int(truncatingIfNeeded: index)]
                let own = UInt64(UInt32.max)
                to[0] = redCodes[Int(truncatingIfNeeded: (r & own) &+ (sum & mask))]
                to[1] =
                    greenCodes[
                        Int(truncatingIfNeeded: (g & own) &+ (sum &>> Self.fieldBits & mask))]
                to[2] =
                    blueCodes[Int(truncatingIfNeeded: (b & own) &+ (sum &>> (2 * Self.fieldBits)))]
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
