import CMinilab
package import Edits
import Filters
import Glibc

/// Consecutive pixels of a result's row while they are resampled: their positions in the source, and the weights of the samples
/// that make them.
///
/// Numbers of one kind are contiguous, so that the compiler vectorizes the loops over them. All of them stay in the first-level
/// cache. One thread uses it at a time.
package final class WarpSegment {
    /// The most pixels.
    package static let length = 64

    /// By pixel: the whole column and row at or before its position.
    package let columns, rows: UnsafeMutablePointer<Int32>
    /// By pixel: the fraction of its position, 0 to 1.
    package let across, down: UnsafeMutablePointer<Float>
    /// By pixel: columns and rows of the source per column and row of the result, at least 1.
    package let stretchX, stretchY: UnsafeMutablePointer<Float>
    /// By tap and pixel: the weights of columns and of rows.
    package let columnWeights, rowWeights: UnsafeMutablePointer<Float>
    /// By pixel: four samples.
    package let results: UnsafeMutablePointer<Float>
    /// By pixel: the sums over rows of all samples of its columns, ``sumSize`` apart.
    package let sums: UnsafeMutablePointer<Float>
    package static let sumSize = 20
    /// By pixel, for a picture in perspective: the reciprocal of its position's divisor.
    package let shares: UnsafeMutablePointer<Double>
    private let whole: UnsafeMutablePointer<Int32>
    private let numbers: UnsafeMutablePointer<Float>

    /// - Parameter taps: the most columns, or rows, that make a pixel.
    package init(taps: Int) {
        let length = Self.length
        whole = .allocate(capacity: 2 * length)
        (columns, rows) = (whole, whole + length)
        let count = length * (8 + 2 * taps + Self.sumSize)
        numbers = .allocate(capacity: count)
        numbers.initialize(repeating: 0, count: count)
        (across, down) = (numbers, numbers + length)
        (stretchX, stretchY) = (numbers + 2 * length, numbers + 3 * length)
        results = numbers + 4 * length
        columnWeights = numbers + 8 * length
        rowWeights = columnWeights + taps * length
        sums = rowWeights + taps * length
        shares = .allocate(capacity: length)
    }

    deinit {
        whole.deallocate()
        shares.deallocate()
        numbers.deallocate()
    }
}

extension WarpSegment {
    /// Computes the weights of the four columns and rows around each position.
    package func weigh(count: Int) {
        Self.weigh(across, columnWeights, count)
        Self.weigh(down, rowWeights, count)
    }

    @inline(__always)
    private static func weigh(
        _ positions: UnsafePointer<Float>, _ weights: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        let (first, second) = (weights, weights + length)
        let (third, fourth) = (weights + 2 * length, weights + 3 * length)
        for i in 0..<count {
            let t = positions[i]
            let (t2, t3) = (t * t, t * t * t)
            first[i] = -0.5 * t + t2 - 0.5 * t3
            second[i] = 1 - 2.5 * t2 + 1.5 * t3
            third[i] = 0.5 * t + 2 * t2 - 1.5 * t3
            fourth[i] = -0.5 * t2 + 0.5 * t3
        }
    }

    package func narrow(to most: Float, count: Int) {
        for stretch in [stretchX, stretchY] {
            for i in 0..<count { stretch[i] = stretch[i] < most ? stretch[i] : most }
        }
    }

    /// Computes the weights of all columns and rows within reach of kernels of each position's width; those of a position sum up to
    /// 1.
    ///
    /// - Parameter taps: the reach of the widest kernel; taps beyond the reach of narrower ones get weight 0. ``columns`` and
    ///   ``rows`` become the first within reach.
    package func weighWide(count: Int, taps: (columns: Int, rows: Int)) {
        Self.weigh(across, columns, stretchX, columnWeights, count, taps.columns)
        Self.weigh(down, rows, stretchY, rowWeights, count, taps.rows)
    }

    @inline(__always)
    private static func weigh(
        _ positions: UnsafeMutablePointer<Float>, _ whole: UnsafeMutablePointer<Int32>,
        _ stretch: UnsafePointer<Float>, _ weights: UnsafeMutablePointer<Float>, _ count: Int,
        _ taps: Int
    ) {
        // From here on, a position is its distance from the first column or row within reach.
        for i in 0..<count {
            let first = Int32(positions[i] - 2 * stretch[i])
            whole[i] &+= first
            positions[i] -= Float(first)
        }
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * length) { memory in
            guard let sums = memory.baseAddress else { return }
            let shares = sums + length
            sums.update(repeating: 0, count: length)
            for i in 0..<count { shares[i] = 1 / stretch[i] }
            for tap in 0..<taps {
                let line = weights + tap * length
                let number = Float(tap)
                for i in 0..<count {
                    let distance = (number - positions[i]) * shares[i]
                    let t = distance.magnitude
                    let near = 1 + t * t * (1.5 * t - 2.5)
                    let far = 2 + t * (-4 + t * (2.5 - 0.5 * t))
                    let outer = t < 2 ? far : 0
                    line[i] = t < 1 ? near : outer
                    sums[i] += line[i]
                }
            }
            for i in 0..<count { sums[i] = 1 / sums[i] }
            for tap in 0..<taps {
                let line = weights + tap * length
                for i in 0..<count { line[i] *= sums[i] }
            }
        }
    }

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
