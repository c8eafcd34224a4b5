package import Edits
import CMinilab
import Filters

extension WarpSegment {
    /// Prefetches the samples around each position, which are summed next.
    ///
    /// In a picture that is turned, neighbouring pixels lie in successive rows. The access leaves each row before the processor's
    /// prefetcher recognises that it is read in order.
    package func prefetch(count: Int, from source: WarpedSource) {
        let bands = source.bands
        let lines = source.lines + (source.reach &- 1 &- source.rows.lowerBound)
        // Pixels per cache line.
        let step = 16 / bands
        for i in stride(from: 0, to: count, by: step) {
            let first = (Int(columns[i]) &- 1) &* bands
            let line = lines + Int(rows[i])
            for number in 0..<4 { minilab_prefetch(line[number] + first) }
        }
    }

    /// Computes each pixel from the sixteen samples around its position.
    package func sum(count: Int, from source: WarpedSource) {
        // Constants let the compiler unroll the loops.
        if source.bands == 3 {
            sum(count, 3, 4, 4, source, source.reach - 1, columnsBefore: 1)
        } else {
            sum(count, 4, 4, 4, source, source.reach - 1, columnsBefore: 1)
        }
    }

    /// Computes each pixel from the columns and rows within reach of wider kernels, from ``columns`` and ``rows`` on.
    package func sumWide(count: Int, taps: (columns: Int, rows: Int), from source: WarpedSource) {
        // A kernel for slight shrinking reaches five.
        switch (taps.columns, source.bands) {
        case (4, 3): sum(count, 3, 4, taps.rows, source, source.reach, columnsBefore: 0)
        case (5, 3): sum(count, 3, 5, taps.rows, source, source.reach, columnsBefore: 0)
        case (4, _): sum(count, 4, 4, taps.rows, source, source.reach, columnsBefore: 0)
        case (5, _): sum(count, 4, 5, taps.rows, source, source.reach, columnsBefore: 0)
        default: sumAny(count, taps.columns, taps.rows, source)
        }
    }

    /// Sums rows first, eight samples together regardless of their channels, and then the remaining columns.
    ///
    /// - Parameters:
    ///   - columnTaps: at most 5.
    ///   - line: the index of the line of row 0's first tap.
    @inline(__always)
    private func sum(
        _ count: Int, _ bands: Int, _ columnTaps: Int, _ rowTaps: Int, _ source: WarpedSource,
        _ line: Int, columnsBefore: Int
    ) {
        let (columns, rows, results, sums) = (columns, rows, results, sums)
        let (across, down) = (columnWeights, rowWeights)
        let lines = source.lines + (line &- source.rows.lowerBound)
        let samples = bands * columnTaps
        for i in 0..<count {
            let first = (Int(columns[i]) &- columnsBefore) &* bands
            let line = lines + Int(rows[i])
            let weight = down[i]
            var low = line[0].octet(first) * weight
            var high = Octet.zero
            var rest = Quartet.zero
            if samples > 12 { high = line[0].octet(first &+ 8) * weight }
            if samples == 12 { rest = line[0].quartet(first &+ 8) * weight }
            if samples > 16 { rest = line[0].quartet(first &+ 16) * weight }
            for row in 1..<rowTaps {
                let weight = down[row &* Self.length &+ i]
                low += line[row].octet(first) * weight
                if samples > 12 { high += line[row].octet(first &+ 8) * weight }
                if samples == 12 { rest += line[row].quartet(first &+ 8) * weight }
                if samples > 16 { rest += line[row].quartet(first &+ 16) * weight }
            }
            let sum = sums + Self.sumSize &* i
            sum.setOctet(0, low)
            if samples > 12 { sum.setOctet(8, high) }
            if samples == 12 { sum.setQuartet(8, rest) }
            if samples > 16 { sum.setQuartet(16, rest) }
        }
        for i in 0..<count {
            let sum = sums + Self.sumSize &* i
            var total = sum.quartet(0) * across[i]
            for column in 1..<columnTaps {
                total += sum.quartet(column &* bands) * across[column &* Self.length &+ i]
            }
            results.setQuartet(4 &* i, total)
        }
    }

    private func sumAny(_ count: Int, _ columnTaps: Int, _ rowTaps: Int, _ source: WarpedSource) {
        let (columns, rows, results) = (columns, rows, results)
        let (columnWeights, rowWeights) = (columnWeights, rowWeights)
        let bands = source.bands
        let lines = source.lines + (source.reach &- source.rows.lowerBound)
        for i in 0..<count {
            let first = Int(columns[i]) &* bands
            let line = lines + Int(rows[i])
            var total = Quartet.zero
            for row in 0..<rowTaps {
                let pixels = line[row] + first
                var sum = Quartet.zero
                for column in 0..<columnTaps {
                    sum +=
                        pixels.quartet(column &* bands) * columnWeights[column &* Self.length &+ i]
                }
                total += sum * rowWeights[row &* Self.length &+ i]
            }
            results.setQuartet(4 &* i, total)
        }
    }

    /// Writes the pixels into planes. Up to three more pixels may be written.
    package func store(count: Int, bands: Int, into out: PlanarRow, at column: Int) {
        let (red, green, blue) = (out[0] + column, out[1] + column, out[2] + column)
        let alpha = bands == 4 ? out[3] + column : nil
        for i in stride(from: 0, to: count, by: 4) {
            let (a, b) = (results.quartet(4 &* i), results.quartet(4 &* i &+ 4))
            let (c, d) = (results.quartet(4 &* i &+ 8), results.quartet(4 &* i &+ 12))
            red.setQuartet(i, Quartet(a[0], b[0], c[0], d[0]))
            green.setQuartet(i, Quartet(a[1], b[1], c[1], d[1]))
            blue.setQuartet(i, Quartet(a[2], b[2], c[2], d[2]))
            alpha?.setQuartet(i, Quartet(a[3], b[3], c[3], d[3]))
        }
    }
}
