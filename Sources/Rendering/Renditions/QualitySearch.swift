import Edits
import Glibc

/// The search for the quality at which a file fits, or is as similar to its picture as was asked for: the files made so far in, the next quality
/// out.
///
/// Bytes and dissimilarity are nearly straight lines of quality in their logarithm, so the search begins with a curve of the format and goes on
/// between the two nearest files.
struct QualitySearch {
    /// A file that was made.
    struct Try: Equatable {
        /// In hundredths of ``Recipe/Output/quality``.
        let quality: Int
        /// Its bytes, or its dissimilarity, 1 − SSIM.
        let value: Double
    }

    enum Step: Equatable {
        case encode(quality: Int)
        /// The file of this quality is the result.
        case done(quality: Int)
        /// No file satisfies the goal. The value is the nearest to it.
        case impossible(value: Double)
    }

    /// The goal of the search.
    enum Goal: Equatable {
        /// The highest quality whose file has at most this many bytes, from the asked one downward.
        case bytes(max: Int)
        /// The lowest quality whose dissimilarity, 1 − SSIM, is at most this.
        case dissimilarity(max: Double)
    }

    let goal: Goal
    let format: Recipe.Format
    /// The quality with which the search begins, and for bytes the highest one.
    let asked: Int
    /// The qualities that may be used.
    let range: ClosedRange<Int>

    /// Files before the best one is taken, if one fits.
    static let triesMax = 8
    /// The first step downward: at the end of the scale curves are steep, and files differ.
    private static let stepMin = 4
    /// A file with this part of the bytes is near enough.
    private static let enough = 0.95
    /// The parts of the bound at which the search aims, by the curve and between two files.
    private static let aims = (byCurve: 0.975, between: 0.985)

    init(_ goal: Goal, _ format: Recipe.Format, asked: Double, qualityMin: Double = 0) {
        self.goal = goal
        self.format = format
        let least = Int((qualityMin * 100).rounded(.up))
        let asked = min(max(Int((asked * 100).rounded()), 0), 100)
        switch goal {
        case .bytes: range = min(least, asked)...asked
        case .dissimilarity: range = 0...100
        }
        self.asked = asked
    }

    func next(after tries: [Try]) -> Step {
        guard !tries.isEmpty else { return .encode(quality: asked) }
        switch goal {
        case .bytes(let most): return step(tries, bound: Double(most), rising: true)
        case .dissimilarity(let most): return step(tries, bound: most, rising: false)
        }
    }

    /// - Parameter rising: whether the value rises with quality: the highest quality within the bound is searched then, else the lowest.
    private func step(_ tries: [Try], bound: Double, rising: Bool) -> Step {
        let sign = rising ? 1 : -1
        let fitting = tries.filter { $0.value <= bound }
        let others = tries.filter { $0.value > bound }
        // The nearest to the bound at both sides.
        let best = fitting.max { sign * $0.quality < sign * $1.quality }
        let near = others.min { sign * $0.quality < sign * $1.quality }
        let (first, last) =
            rising ? (range.lowerBound, asked) : (range.upperBound, range.lowerBound)
        if let best {
            if rising, best.value >= Self.enough * bound || best.quality == last {
                return .done(quality: best.quality)
            }
            guard tries.count < Self.triesMax else { return .done(quality: best.quality) }
            guard let near else {
                guard best.quality != last else { return .done(quality: best.quality) }
                let wanted = beyond(fitting, best, to: bound)
                return .encode(quality: max(last, wanted))
            }
            guard abs(near.quality - best.quality) > 1 else { return .done(quality: best.quality) }
            let aim = Self.log((rising ? Self.aims.between : 1) * bound)
            let (low, high) = (Self.log(best.value), Self.log(near.value))
            let share = high > low ? (aim - low) / (high - low) : 0.5
            let wanted =
                Double(best.quality) + share * Double(near.quality - best.quality)
            return .encode(
                quality: between(Int(wanted.rounded(.down)), best.quality, near.quality))
        }
        guard let near else { return .encode(quality: asked) }
        guard near.quality != first else {
            return .impossible(value: tries.map(\.value).min() ?? near.value)
        }
        // The last tries are for the end of the range: nothing is called impossible that was not tried.
        guard tries.count < Self.triesMax - 2 else { return .encode(quality: first) }
        let wanted = byCurve(from: near, to: (rising ? Self.aims.byCurve : 1) * bound)
        return .encode(
            quality: rising
                ? max(first, min(wanted, near.quality - 1))
                : min(first, max(wanted, near.quality + 1)))
    }

    /// Returns a quality below that of the best file where all files fit: by the curve after one file, then by the line through the two
    /// lowest.
    private func beyond(_ fitting: [Try], _ best: Try, to bound: Double) -> Int {
        let others = fitting.filter { $0.quality > best.quality }
        guard let other = others.min(by: { $0.quality < $1.quality }) else {
            return min(byCurve(from: best, to: bound), best.quality - Self.stepMin)
        }
        let (low, high) = (Self.log(other.value), Self.log(best.value))
        let slope = max((high - low) / Double(other.quality - best.quality), 0.001)
        let wanted = best.quality - Int(((Self.log(bound) - high) / slope).rounded(.up))
        // Not too far: the line is short.
        return min(best.quality - 1, max(wanted, best.quality - 8 * (asked - best.quality)))
    }

    private func between(_ wanted: Int, _ one: Int, _ other: Int) -> Int {
        let (least, most) = (min(one, other) + 1, max(one, other) - 1)
        return max(least, min(wanted, most))
    }

    /// Returns the quality at which the format's curve through a file meets a value.
    private func byCurve(from file: Try, to value: Double) -> Int {
        let curve = goal.isBytes ? Self.bytes[format] ?? Self.jpeg : Self.dissimilarity
        let wanted =
            Self.value(curve, at: Double(file.quality)) + Self.log(value) - Self.log(file.value)
        // Curves fall or rise throughout.
        let qualities = (0...100).filter { quality in
            Self.value(curve, at: Double(quality)) <= wanted
        }
        return goal.isBytes ? qualities.max() ?? 0 : qualities.min() ?? 100
    }

    private static func log(_ value: Double) -> Double { Glibc.log(max(value, 1e-9)) }

    /// Points of a curve: quality, and the logarithm of the value at it.
    private typealias Curve = [(quality: Double, value: Double)]

    private static func value(_ curve: Curve, at quality: Double) -> Double {
        let above = max(1, curve.firstIndex { $0.quality >= quality } ?? curve.count - 1)
        let (from, to) = (curve[above - 1], curve[above])
        let share = (quality - from.quality) / (to.quality - from.quality)
        return from.value + share * (to.value - from.value)
    }

    private static func curve(_ values: [Double]) -> Curve {
        zip([0, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95, 100], values).map {
            ($0, log($1))
        }
    }

    /// Bytes relative to those of quality 90, on four photos of 640 pixels; the ends are extended.
    private static let jpeg = curve([
        0.05, 0.124, 0.210, 0.281, 0.339, 0.393, 0.451, 0.539, 0.679, 0.798, 1, 1.45, 3,
    ])
    private static let webp = curve([
        0.06, 0.124, 0.194, 0.245, 0.301, 0.356, 0.415, 0.507, 0.648, 0.804, 1, 1.5, 2,
    ])
    private static let avif = curve([
        0.03, 0.065, 0.128, 0.230, 0.282, 0.366, 0.404, 0.510, 0.662, 0.799, 1, 1.5, 2.5,
    ])
    private static let bytes: [Recipe.Format: Curve] = [
        .jpeg: jpeg, .webp: webp, .jxl: webp, .avif: avif, .heic: avif,
    ]
    /// 1 − SSIM, alike for all formats: that is how ``EncoderQuality`` was made.
    private static let dissimilarity = curve([
        0.4, 0.2, 0.13, 0.1, 0.083, 0.07, 0.058, 0.044, 0.028, 0.02, 0.012, 0.006, 0.001,
    ])
}

extension QualitySearch.Goal {
    fileprivate var isBytes: Bool { if case .bytes = self { true } else { false } }
}
