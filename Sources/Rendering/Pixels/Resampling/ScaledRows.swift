package import Edits
import Filters
import Glibc

/// A picture scaled by the Lanczos kernel, its columns first and then its rows.
///
/// A source more than four times as large is first reduced to means of blocks, so that few rows are kept.
package final class ScaledRows: RowSource {
    package let format: RowFormat
    private let window: RowWindow
    private let columns, rows: LanczosTable
    private let coverage: Coverage
    private let line: ScratchRow
    private var y = 0

    /// - Parameter source: the source, shrunk by `shrink`.
    package init(_ source: any RowSource, _ geometry: Geometry, shrink: (columns: Int, rows: Int)) {
        let map = geometry.downward(shrink: shrink).values
        let full = source.format
        rows = LanczosTable(
            count: geometry.size.height, step: map[4], offset: map[5], source: full.height)
        columns = LanczosTable(
            count: geometry.size.width, step: map[0], offset: map[2], source: full.width)
        coverage = Coverage(geometry)
        window = RowWindow(source, rows: rows.taps, margin: 0, edge: .clamp)
        line = ScratchRow(width: full.width, planes: full.planes)
        format = RowFormat(
            width: geometry.size.width, height: geometry.size.height, planes: full.planes)
    }

    package func next(into out: PlanarRow) {
        let start = rows.starts[y]
        _ = window.row(start + rows.taps - 1)
        let taps = (0..<rows.taps).map { window.row(start + $0) }
        for plane in 0..<format.planes {
            let sums = line.row[plane]
            sums.update(repeating: 0, count: window.format.width)
            for (tap, row) in taps.enumerated() {
                let weight = rows.weights[y * rows.taps + tap]
                guard weight != 0 else { continue }
                let samples = row[plane]
                for x in 0..<window.format.width { sums[x] += weight * samples[x] }
            }
        }
        resample(into: out)
        if !coverage.isWhole { cover(out) }
        y += 1
    }

    private func resample(into out: PlanarRow) {
        let (red, green, blue) = (line.row[0], line.row[1], line.row[2])
        let taps = columns.taps
        columns.weights.withUnsafeBufferPointer { weights in
            guard var weights = weights.baseAddress else { return }
            for (x, start) in columns.starts.enumerated() {
                var (r, g, b) = (Float(0), Float(0), Float(0))
                for tap in 0..<taps {
                    r += weights[tap] * red[start + tap]
                    g += weights[tap] * green[start + tap]
                    b += weights[tap] * blue[start + tap]
                }
                (out[0][x], out[1][x], out[2][x]) = (r, g, b)
                if format.planes == 4 {
                    let alpha = line.row[3] + start
                    out[3][x] = (0..<taps).reduce(0) { $0 + weights[$1] * alpha[$1] }
                }
                weights += taps
            }
        }
    }

    private func cover(_ out: PlanarRow) {
        for x in 0..<format.width {
            let share = coverage.share(x, y)
            guard share < 1 else { continue }
            for plane in 0..<format.planes { out[plane][x] *= share }
        }
    }
}

/// The samples of a line, and their weights, that make each sample of a line of another length.
///
/// The Lanczos kernel with three lobes, sinc(x) · sinc(x/3), scaled for the coarser of the two lines. Weights of a sample sum up to
/// 1; outside the line, its last sample is repeated.
package struct LanczosTable: Sendable {
    package let taps: Int
    package let starts: [Int]
    /// Weights by result and tap.
    package let weights: [Float]

    private static let lobes = 3.0

    init(taps: Int, starts: [Int], weights: [Float]) {
        (self.taps, self.starts, self.weights) = (taps, starts, weights)
    }

    /// - Parameters:
    ///   - count: number of samples of the result.
    ///   - step: distance of their centres in the source; above 0.
    ///   - offset: position in the source at which the result begins.
    ///   - source: number of samples of the source.
    package init(count: Int, step: Double, offset: Double, source: Int) {
        let width = max(1, step)
        let wanted = Int((2 * Self.lobes * width).rounded(.up)) + 1
        let taps = min(wanted, source)
        var starts: [Int] = []
        var weights = [Float](repeating: 0, count: count * taps)
        // Results by the place of their centre between samples, for those whose weights lie in the line. Beyond 16, differences of
        // centres and samples are exact, so equal places have equal weights; halves have one place, and other ratios few.
        var same: [Double: Int] = [:]
        for index in 0..<count {
            let centre = offset + (Double(index) + 0.5) * step
            let first = Int((centre - Self.lobes * width).rounded(.down))
            let start = min(max(first, 0), source - taps)
            let isInside = first == start && taps == wanted && centre > 16
            if isInside, let other = same[centre - Double(first)] {
                for tap in 0..<taps {
                    weights[index * taps + tap] = weights[other * taps + tap]
                }
                starts.append(start)
                continue
            }
            var line = [Double](repeating: 0, count: taps)
            for tap in first..<first + wanted {
                let weight = Self.kernel((Double(tap) + 0.5 - centre) / width)
                line[min(max(tap - start, 0), taps - 1)] += weight
            }
            let sum = line.reduce(0, +)
            for tap in 0..<taps { weights[index * taps + tap] = Float(line[tap] / sum) }
            starts.append(start)
            if isInside { same[centre - Double(first)] = index }
        }
        self.taps = taps
        self.starts = starts
        self.weights = weights
    }

    private static func kernel(_ x: Double) -> Double {
        guard abs(x) < lobes else { return 0 }
        guard abs(x) > 1e-9 else { return 1 }
        let angle = Double.pi * x
        return lobes * sin(angle) * sin(angle / lobes) / (angle * angle)
    }
}

/// The fraction of each pixel of a result that its source covers, for edges that cross the pixel.
///
/// The fraction of a pixel on one side of a line is approximated by its centre's distance plus a half, clamped to 0 to 1: exact for
/// lines along the axes, and within 0.06 for others.
package struct Coverage: Sendable {
    private let edges: [(a: Double, b: Double, c: Double)]

    /// - Parameter geometry: a geometry, whose result is converted to count from the top.
    package init(_ geometry: Geometry) {
        let height = Double(geometry.size.height)
        edges = geometry.edges.map { ($0.a, -$0.b, $0.c + $0.b * height) }
    }

    /// Whether all pixels are fully covered.
    package var isWhole: Bool { edges.isEmpty }

    /// Returns the covered fraction of the pixel in a column and row.
    package func share(_ column: Int, _ row: Int) -> Float {
        let (x, y) = (Double(column) + 0.5, Double(row) + 0.5)
        var share = 1.0
        for edge in edges {
            share *= min(max(edge.a * x + edge.b * y + edge.c + 0.5, 0), 1)
        }
        return Float(share)
    }
}

/// The means of blocks of columns and rows. The outermost pixels are repeated to fill the last blocks.
package final class BlockMeanRows: RowSource {
    package let format: RowFormat
    private let source: any RowSource
    private let columns, rows: Int
    private let row, sums: ScratchRow
    private var left: Int

    package init(_ source: any RowSource, columns: Int, rows: Int) {
        self.source = source
        (self.columns, self.rows) = (columns, rows)
        let full = source.format
        format = RowFormat(
            width: (full.width + columns - 1) / columns,
            height: (full.height + rows - 1) / rows, planes: full.planes)
        row = ScratchRow(width: full.width, planes: full.planes)
        sums = ScratchRow(width: full.width, planes: full.planes)
        left = full.height
    }

    /// Returns the bytes that it keeps.
    package static func bytes(of full: RowFormat) -> Int {
        2 * full.width * full.planes * MemoryLayout<Float>.stride
    }

    package func next(into out: PlanarRow) {
        let width = source.format.width
        for number in 0..<rows {
            // Below the picture, its last row is repeated.
            if left > 0 { source.next(into: row.row) }
            left -= 1
            for plane in 0..<format.planes {
                let (sum, samples) = (sums.row[plane], row.row[plane])
                if number == 0 {
                    sum.update(from: samples, count: width)
                } else {
                    for x in 0..<width { sum[x] += samples[x] }
                }
            }
        }
        let share = 1 / Float(columns * rows)
        for plane in 0..<format.planes {
            let (sum, target) = (sums.row[plane], out[plane])
            for block in 0..<format.width {
                var total: Float = 0
                for x in block * columns..<(block + 1) * columns { total += sum[min(x, width - 1)] }
                target[block] = total * share
            }
        }
    }
}
