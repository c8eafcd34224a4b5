package import Edits
import Filters

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
