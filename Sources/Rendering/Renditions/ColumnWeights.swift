import Edits
import Filters

/// The weights of columns: they make the columns of the result of a batch of rows, part by part, so that a part stays in the first-level cache.
///
/// Products of one row are slow to add within a vector, so eight rows are turned into vectors of one column each. When a picture is halved,
/// the columns of a row are parted in even and odd ones instead. Each sum has a fixed order, so its bits are the same on each processor.
final class ColumnWeights {
    /// Columns of a part, and samples from one of its rows to the next: with 64, sums of rows took 1.4 × as long.
    static let part = 256
    /// Columns of the result that are made of lanes at a time.
    private static let lanesPart = 64

    private let starts: [Int]
    private let taps: Int
    private let weights: [Float]
    /// Columns of the result of which each begins two columns after the one before, with the same weights: all but those at the edges when a
    /// picture is halved.
    private let halves: Range<Int>
    private let planes: Int
    /// A part of the result: its rows, plane after plane.
    private let made: PlanarRow
    /// The columns of a part, eight rows each, and their results; or even and odd columns of a row.
    private let lanes, results: UnsafeMutablePointer<Float>

    init(_ table: LanczosTable, planes: Int) {
        (starts, taps, weights, self.planes) = (table.starts, table.taps, table.weights, planes)
        halves = Self.halves(table)
        let most = Swift.stride(from: 0, to: starts.count, by: Self.lanesPart).map { first in
            let last = min(first + Self.lanesPart, table.starts.count) - 1
            return table.starts[last] + table.taps - table.starts[first]
        }
        made = PlanarRow(
            start: RowMemory.zeros(Self.madeSamples(planes)), stride: Self.part * LightLevel.rows)
        lanes = RowMemory.zeros(Self.laneSamples(most.max() ?? 0, planes))
        results = RowMemory.zeros(LightLevel.rows * planes * Self.lanesPart)
    }

    deinit {
        RowMemory.free(made.start)
        RowMemory.free(lanes)
        RowMemory.free(results)
    }

    private static func madeSamples(_ planes: Int) -> Int {
        LightLevel.rows * planes * part + RowFormat.block
    }

    private static func laneSamples(_ columns: Int, _ planes: Int) -> Int {
        max(LightLevel.rows * planes * (columns + RowFormat.block), 2 * (part + 16))
    }

    /// Bytes that it keeps.
    static func bytes(_ axis: ReductionAxis, planes: Int) -> Int {
        let columns = Double(lanesPart) * axis.step + 6 * max(1, axis.step)
        let samples =
            madeSamples(planes) + LightLevel.rows * planes * lanesPart
            + laneSamples(Int(columns.rounded(.up)) + 2, planes)
        return samples * MemoryLayout<Float>.stride
    }

    /// Columns of the result.
    var count: Int { starts.count }

    private static func halves(_ table: LanczosTable) -> Range<Int> {
        let middle = table.starts.count / 2
        guard table.taps == halfTaps else { return 0..<0 }
        func weights(_ index: Int) -> ArraySlice<Float> {
            table.weights[index * halfTaps..<(index + 1) * halfTaps]
        }
        func isLike(_ index: Int) -> Bool {
            table.starts[index] == table.starts[middle] + 2 * (index - middle)
                && weights(index) == weights(middle)
        }
        guard weights(middle).last == 0,
            weights(middle).dropLast().elementsEqual(weights(middle).dropLast().reversed())
        else { return 0..<0 }
        var (first, end) = (middle, middle)
        while first > 0, isLike(first - 1) { first -= 1 }
        while end < table.starts.count, isLike(end) { end += 1 }
        return end - first > table.starts.count / 2 ? first..<end : 0..<0
    }

    /// Columns that a half is made of, of which the last one has no weight.
    private static let halfTaps = 13

    /// Makes the columns of a batch of rows.
    ///
    /// - Parameters:
    ///   - batch, apart: the first row, and samples from one to the next; there is memory for a whole batch, of finite samples.
    ///   - use: receives the numbers of some columns and their rows, plane by plane, each ``part`` samples after the one before.
    func apply(
        to batch: PlanarRow, apart: Int, rows: Int, _ use: (Range<Int>, PlanarRow) -> Void
    ) {
        for left in stride(from: 0, to: starts.count, by: Self.part) {
            let columns = left..<min(left + Self.part, starts.count)
            if taps == 1 || !halves.isEmpty {
                for plane in 0..<planes {
                    for row in 0..<rows {
                        make(
                            columns, of: batch[plane] + row * apart,
                            into: made[plane] + row * Self.part)
                    }
                }
            } else {
                for first in stride(from: left, to: columns.upperBound, by: Self.lanesPart) {
                    make(
                        first..<min(first + Self.lanesPart, columns.upperBound), of: batch, apart,
                        at: first - left)
                }
            }
            use(columns, made)
        }
    }

    /// Makes columns of one row.
    private func make(
        _ columns: Range<Int>, of row: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>
    ) {
        let left = columns.lowerBound
        if taps == 1 {
            for x in columns { out[x - left] = row[starts[x]] }
            return
        }
        let middle = columns.clamped(to: halves)
        if !middle.isEmpty { halve(middle, of: row, into: out + (middle.lowerBound - left)) }
        for x in left..<max(left, min(columns.upperBound, halves.lowerBound)) {
            out[x - left] = sample(row, x)
        }
        for x in min(columns.upperBound, max(left, halves.upperBound))..<columns.upperBound {
            out[x - left] = sample(row, x)
        }
    }

    private func sample(_ from: UnsafePointer<Float>, _ x: Int) -> Float {
        var sums: (even: Float, odd: Float) = (0, 0)
        for tap in 0..<taps {
            let product = weights[x * taps + tap] * from[starts[x] + tap]
            if tap & 1 == 0 { sums.even += product } else { sums.odd += product }
        }
        return sums.even + sums.odd
    }

    private func halve(
        _ columns: Range<Int>, of row: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>
    ) {
        let row = row + starts[columns.lowerBound]
        let (evens, odds) = (lanes, lanes + Self.part + 16)
        let count = columns.count
        var x = 0
        while x < count + 5 {
            let (a, b) = (row.octet(2 &* x), row.octet(2 &* x &+ 8))
            evens.setOctet(x, Octet(lowHalf: a.evenHalf, highHalf: b.evenHalf))
            odds.setOctet(x, Octet(lowHalf: a.oddHalf, highHalf: b.oddHalf))
            x &+= 8
        }
        // Weights are the same from both sides, so columns are added before they are weighted.
        let first = halves.lowerBound * taps
        let (a, b, c) = (weights[first], weights[first + 2], weights[first + 4])
        let (d, e, f) = (weights[first + 6], weights[first + 8], weights[first + 10])
        x = 0
        while x < count {
            let (even, odd) = (evens + x, odds + x)
            var sum = a * (even.octet(0) + odd.octet(5))
            sum += b * (even.octet(1) + odd.octet(4))
            sum += c * (even.octet(2) + odd.octet(3))
            sum += d * (even.octet(3) + odd.octet(2))
            sum += e * (even.octet(4) + odd.octet(1))
            sum += f * (even.octet(5) + odd.octet(0))
            out.setOctet(x, sum)
            x &+= 8
        }
    }

    /// Makes columns of eight rows together, as those from one on of the part.
    private func make(_ columns: Range<Int>, of batch: PlanarRow, _ apart: Int, at column: Int) {
        let (left, count) = (columns.lowerBound, columns.count)
        let from = starts[left]
        let read = starts[columns.upperBound - 1] + taps - from
        for plane in 0..<planes {
            turn(read, batch[plane] + from, apart, to: lanes + 8 * plane)
        }
        var plane = 0
        if planes >= 3 {
            sumThree(left, count, lanes, results)
            plane = 3
        }
        while plane < planes {
            sumOne(left, count, lanes + 8 * plane, results + 8 * plane)
            plane += 1
        }
        for plane in 0..<planes {
            turnBack(count, results + 8 * plane, made[plane] + column)
        }
    }

    /// Samples from the lanes of a column to those of the next: all its planes.
    private var step: Int { 8 * planes }

    private func sumOne(
        _ left: Int, _ count: Int, _ lanes: UnsafeMutablePointer<Float>,
        _ results: UnsafeMutablePointer<Float>
    ) {
        let (step, taps) = (step, taps)
        weights.withUnsafeBufferPointer { all in
            guard var w = all.baseAddress.map({ $0 + left * taps }) else { return }
            let from = lanes - step * starts[left]
            for x in 0..<count {
                var column = from + step &* starts[left &+ x]
                var (a, b) = (Octet.zero, Octet.zero)
                for pair in 0..<taps / 2 {
                    a += w[2 &* pair] * column.octet(0)
                    b += w[2 &* pair &+ 1] * column.octet(step)
                    column += 2 &* step
                }
                if taps & 1 == 1 { a += w[taps &- 1] * column.octet(0) }
                results.setOctet(step &* x, a + b)
                w += taps
            }
        }
    }

    /// Three planes together, whose weights are the same.
    private func sumThree(
        _ left: Int, _ count: Int, _ lanes: UnsafeMutablePointer<Float>,
        _ results: UnsafeMutablePointer<Float>
    ) {
        let (step, taps) = (step, taps)
        weights.withUnsafeBufferPointer { all in
            guard var w = all.baseAddress.map({ $0 + left * taps }) else { return }
            let from = lanes - step * starts[left]
            for x in 0..<count {
                var column = from + step &* starts[left &+ x]
                var (a, b, c) = (Octet.zero, Octet.zero, Octet.zero)
                var (d, e, f) = (Octet.zero, Octet.zero, Octet.zero)
                for pair in 0..<taps / 2 {
                    let even = Octet(repeating: w[2 &* pair])
                    let odd = Octet(repeating: w[2 &* pair &+ 1])
                    a += even * column.octet(0)
                    b += even * column.octet(8)
                    c += even * column.octet(16)
                    d += odd * column.octet(step)
                    e += odd * column.octet(step &+ 8)
                    f += odd * column.octet(step &+ 16)
                    column += 2 &* step
                }
                if taps & 1 == 1 {
                    let even = Octet(repeating: w[taps &- 1])
                    a += even * column.octet(0)
                    b += even * column.octet(8)
                    c += even * column.octet(16)
                }
                let result = results + step &* x
                result.setOctet(0, a + d)
                result.setOctet(8, b + e)
                result.setOctet(16, c + f)
                w += taps
            }
        }
    }

    /// Turns columns of eight rows into octets.
    private func turn(
        _ columns: Int, _ row: UnsafePointer<Float>, _ apart: Int,
        to lanes: UnsafeMutablePointer<Float>
    ) {
        let step = step
        var x = 0
        while x < columns {
            let from = row + x
            let turned = Self.turned(
                from.octet(0), from.octet(apart), from.octet(2 &* apart), from.octet(3 &* apart),
                from.octet(4 &* apart), from.octet(5 &* apart), from.octet(6 &* apart),
                from.octet(7 &* apart))
            let to = lanes + step &* x
            to.setOctet(0, turned.0)
            to.setOctet(step, turned.1)
            to.setOctet(2 &* step, turned.2)
            to.setOctet(3 &* step, turned.3)
            to.setOctet(4 &* step, turned.4)
            to.setOctet(5 &* step, turned.5)
            to.setOctet(6 &* step, turned.6)
            to.setOctet(7 &* step, turned.7)
            x &+= 8
        }
    }

    /// Turns octets into columns of eight rows.
    private func turnBack(
        _ columns: Int, _ lanes: UnsafePointer<Float>, _ row: UnsafeMutablePointer<Float>
    ) {
        let (step, part) = (step, Self.part)
        var x = 0
        while x < columns {
            let from = lanes + step &* x
            let turned = Self.turned(
                from.octet(0), from.octet(step), from.octet(2 &* step), from.octet(3 &* step),
                from.octet(4 &* step), from.octet(5 &* step), from.octet(6 &* step),
                from.octet(7 &* step))
            let to = row + x
            to.setOctet(0, turned.0)
            to.setOctet(part, turned.1)
            to.setOctet(2 &* part, turned.2)
            to.setOctet(3 &* part, turned.3)
            to.setOctet(4 &* part, turned.4)
            to.setOctet(5 &* part, turned.5)
            to.setOctet(6 &* part, turned.6)
            to.setOctet(7 &* part, turned.7)
            x &+= 8
        }
    }

    private typealias Eight = (Octet, Octet, Octet, Octet, Octet, Octet, Octet, Octet)

    /// Eight rows of eight columns, as eight columns of eight rows: three times, rows are woven with those four further on.
    @inline(__always)
    private static func turned(
        _ r0: Octet, _ r1: Octet, _ r2: Octet, _ r3: Octet, _ r4: Octet, _ r5: Octet, _ r6: Octet,
        _ r7: Octet
    ) -> Eight {
        let (a0, a1) = woven(r0, r4)
        let (a2, a3) = woven(r1, r5)
        let (a4, a5) = woven(r2, r6)
        let (a6, a7) = woven(r3, r7)
        let (b0, b1) = woven(a0, a4)
        let (b2, b3) = woven(a1, a5)
        let (b4, b5) = woven(a2, a6)
        let (b6, b7) = woven(a3, a7)
        let (c0, c1) = woven(b0, b4)
        let (c2, c3) = woven(b1, b5)
        let (c4, c5) = woven(b2, b6)
        let (c6, c7) = woven(b3, b7)
        return (c0, c1, c2, c3, c4, c5, c6, c7)
    }

    @inline(__always)
    private static func woven(_ a: Octet, _ b: Octet) -> (Octet, Octet) {
        var both = SIMD16<Float>()
        both.evenHalf = a
        both.oddHalf = b
        return (both.lowHalf, both.highHalf)
    }
}

extension LanczosTable {
    /// Creates the table of samples that only move.
    init(moving count: Int, from first: Int, of source: Int) {
        self.init(
            taps: 1, starts: (0..<count).map { min(max($0 + first, 0), source - 1) },
            weights: [Float](repeating: 1, count: count))
    }
}
