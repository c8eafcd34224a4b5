import Edits
import Filters

/// A consumer of a picture's rows of linear light, multiplied by alpha, from top to bottom.
///
/// A row is made in the consumer's own memory, so that it is not copied.
protocol LightSink: AnyObject {
    /// The memory for the next row, which is overwritten. It has ``RowFormat/block`` samples beyond the width, all finite.
    var room: PlanarRow { get }
    /// Uses the row in ``room``.
    ///
    /// - Throws: failures of an encoder at the end of the chain.
    func take() throws(Failure)
}

/// One axis of a resampling: the centre of result `i` lies at `offset + (i + ½) · step` in the source.
struct ReductionAxis: Equatable {
    let count: Int
    let step, offset: Double

    /// Whether pixels are only chosen, not computed.
    var isMove: Bool { step == 1 && offset == offset.rounded() }

    /// The samples of a source, and their weights, for each result.
    func table(of source: Int) -> LanczosTable {
        isMove
            ? LanczosTable(moving: count, from: Int(offset), of: source)
            : LanczosTable(count: count, step: step, offset: offset, source: source)
    }
}

/// Resamples a picture by the Lanczos kernel in one pass over its rows: rows first, then columns.
///
/// Reducing, it keeps the sums of the rows of the result to which the last row of the source belongs: six, at edges ten, whatever the
/// ratio is.
/// Enlarging, it keeps the seven last rows of the source. All sums are in the order of rows and columns, and no product is fused with
/// a sum, so the bits are the same on each processor.
final class RowReducer {
    private let source: RowFormat
    private let columns: ColumnWeights
    private let rows: LanczosTable
    /// The columns of the source that are read.
    private let used: Range<Int>
    private let sink: any LightSink
    private let memory: UnsafeMutablePointer<Float>
    private let stride: Int
    private let slots: Int
    private let keepsSums: Bool
    /// The next row of the result.
    private var next = 0
    /// The next row of the result whose sums are not begun.
    private var begun = 0

    /// - Parameter columns, rows: what part of the source becomes the result, with both counts of the sink's row.
    init(_ source: RowFormat, columns: ReductionAxis, rows: ReductionAxis, into sink: any LightSink)
    {
        self.source = source
        self.sink = sink
        let across = columns.table(of: source.width)
        self.columns = ColumnWeights(across)
        self.rows = rows.table(of: source.height)
        used = (across.starts.first ?? 0)..<(across.starts.last ?? 0) + across.taps
        keepsSums = rows.step >= 1
        slots = keepsSums ? Self.openRows(self.rows) : self.rows.taps
        stride = Self.stride(used.count)
        memory = RowMemory.zeros((slots + 1) * source.planes * stride)
    }

    deinit { RowMemory.free(memory) }

    /// Returns the most rows of the result whose sums are open at the same time. There are some more at the edges, where weights lie on
    /// the first or last rows of the source.
    private static func openRows(_ table: LanczosTable) -> Int {
        var (most, end) = (1, 0)
        for y in table.starts.indices {
            while end < table.starts.count, table.starts[end] < table.starts[y] + table.taps {
                end += 1
            }
            most = max(most, end - y)
        }
        return most
    }

    /// Samples that a row has room for, with the block that the weights of columns may reach beyond it.
    private static func stride(_ width: Int) -> Int { (width + 2 * RowFormat.block + 15) & ~15 }

    private func slot(_ index: Int) -> PlanarRow {
        PlanarRow(start: memory + index * source.planes * stride, stride: stride)
    }

    /// Adds the next rows of the source.
    ///
    /// - Parameters:
    ///   - batch: returns a row by its number.
    ///   - numbers: of the rows, which follow those before.
    func add(_ numbers: Range<Int>, _ batch: (Int) -> PlanarRow) throws(Failure) {
        if keepsSums {
            try addToSums(numbers, batch)
        } else {
            try keep(numbers, batch)
        }
    }

    private func addToSums(_ numbers: Range<Int>, _ batch: (Int) -> PlanarRow) throws(Failure) {
        var y = next
        while y < rows.starts.count, rows.starts[y] < numbers.upperBound {
            let sums = slot(y % slots)
            if y == begun {
                for plane in 0..<source.planes {
                    sums[plane].update(repeating: 0, count: used.count)
                }
                begun += 1
            }
            let start = rows.starts[y]
            let taps =
                max(start, numbers.lowerBound)..<min(start + rows.taps, numbers.upperBound)
            if !taps.isEmpty { add(taps, batch, to: sums, weightsFrom: y * rows.taps - start) }
            if start + rows.taps <= numbers.upperBound {
                try finish(sums)
                next += 1
            }
            y += 1
        }
    }

    /// Columns that are summed together: their sums and rows stay in the first-level cache.
    private static let block = 512

    private func add(
        _ taps: Range<Int>, _ batch: (Int) -> PlanarRow, to sums: PlanarRow, weightsFrom first: Int
    ) {
        for plane in 0..<source.planes {
            let sum = sums[plane]
            var left = 0
            while left < used.count {
                let count = min(Self.block, used.count - left)
                var tap = taps.lowerBound
                // Four rows at a time, so that a sum is loaded and stored once for them.
                while tap + 4 <= taps.upperBound {
                    let weights = (0..<4).map { rows.weights[first + tap + $0] }
                    Self.addFour(
                        batch(tap)[plane] + used.lowerBound + left,
                        batch(tap + 1)[plane] + used.lowerBound + left,
                        batch(tap + 2)[plane] + used.lowerBound + left,
                        batch(tap + 3)[plane] + used.lowerBound + left,
                        weights[0], weights[1], weights[2], weights[3], to: sum + left, count)
                    tap += 4
                }
                while tap < taps.upperBound {
                    Self.addOne(
                        batch(tap)[plane] + used.lowerBound + left, rows.weights[first + tap],
                        to: sum + left, count)
                    tap += 1
                }
                left += count
            }
        }
    }

    @inline(__always)
    private static func addOne(
        _ row: UnsafePointer<Float>, _ weight: Float, to sums: UnsafeMutablePointer<Float>,
        _ count: Int
    ) {
        for x in 0..<count { sums[x] += weight * row[x] }
    }

    // Four pointers of their own, because the compiler does not vectorise a loop over an array of them.
    @inline(__always)
    private static func addFour(
        _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ c: UnsafePointer<Float>,
        _ d: UnsafePointer<Float>, _ p: Float, _ q: Float, _ r: Float, _ s: Float,
        to sums: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        for x in 0..<count {
            sums[x] = (((sums[x] + p * a[x]) + q * b[x]) + r * c[x]) + s * d[x]
        }
    }

    private func keep(_ numbers: Range<Int>, _ batch: (Int) -> PlanarRow) throws(Failure) {
        let sums = slot(slots)
        for number in numbers {
            let kept = slot(number % slots)
            for plane in 0..<source.planes {
                kept[plane].update(from: batch(number)[plane] + used.lowerBound, count: used.count)
            }
            while next < rows.starts.count, rows.starts[next] + rows.taps <= number + 1 {
                let start = rows.starts[next]
                for plane in 0..<source.planes {
                    sums[plane].update(repeating: 0, count: used.count)
                    for tap in 0..<rows.taps {
                        Self.addOne(
                            slot((start + tap) % slots)[plane],
                            rows.weights[next * rows.taps + tap],
                            to: sums[plane], used.count)
                    }
                }
                try finish(sums)
                next += 1
            }
        }
    }

    private func finish(_ sums: PlanarRow) throws(Failure) {
        let room = sink.room
        columns.apply(to: sums, from: used.lowerBound, planes: source.planes, into: room)
        try sink.take()
    }

    /// Bytes that it keeps.
    static func bytes(_ source: RowFormat, columns: ReductionAxis, rows: ReductionAxis) -> Int {
        let taps = min(source.height, Int((6 * max(1, rows.step)).rounded(.up)) + 1)
        // Six rows are open in the middle, and the sums of four more at an edge.
        let slots = rows.step >= 1 ? 11 : taps
        let width = min(
            source.width, Int((columns.step * Double(columns.count)).rounded(.up)) + 14)
        return (slots + 1) * source.planes * stride(width) * MemoryLayout<Float>.stride
    }
}

/// The weights of columns, in vectors of eight.
private final class ColumnWeights {
    private typealias Vector = SIMD8<Float>
    private let starts: [Int]
    private let taps: Int
    /// Vectors to a result.
    private let vectors: Int
    private let weights: UnsafeMutablePointer<Vector>

    init(_ table: LanczosTable) {
        (starts, taps) = (table.starts, table.taps)
        vectors = (taps + 7) / 8
        weights = .allocate(capacity: max(1, starts.count * vectors))
        weights.initialize(repeating: .zero, count: max(1, starts.count * vectors))
        weights.withMemoryRebound(to: Float.self, capacity: 8 * starts.count * vectors) { lanes in
            for index in starts.indices {
                for tap in 0..<taps {
                    lanes[8 * index * vectors + tap] = table.weights[index * taps + tap]
                }
            }
        }
    }

    deinit { weights.deallocate() }

    /// - Parameter first: the column of the source with which the row begins.
    func apply(to row: PlanarRow, from first: Int, planes: Int, into out: PlanarRow) {
        if taps == 1 {
            for plane in 0..<planes {
                let (from, to) = (row[plane], out[plane])
                for (x, start) in starts.enumerated() { to[x] = from[start - first] }
            }
            return
        }
        switch vectors {
        case 1: apply(1, row, first, planes, out)
        case 2: apply(2, row, first, planes, out)
        case 3: apply(3, row, first, planes, out)
        default: apply(vectors, row, first, planes, out)
        }
    }

    /// Inlined, so that a constant number of vectors becomes a loop without an inner loop.
    @inline(__always)
    private func apply(
        _ vectors: Int, _ row: PlanarRow, _ first: Int, _ planes: Int, _ out: PlanarRow
    ) {
        starts.withUnsafeBufferPointer { starts in
            for plane in 0..<planes {
                let (from, to) = (UnsafeRawPointer(row[plane] - first), out[plane])
                var weights = weights
                for x in 0..<starts.count {
                    let samples = from + 4 &* starts[x]
                    var sums = weights[0] * samples.loadUnaligned(as: Vector.self)
                    for vector in 1..<max(1, vectors) {
                        sums +=
                            weights[vector]
                            * (samples + 32 &* vector).loadUnaligned(as: Vector.self)
                    }
                    // Halves, always in this order.
                    let four = sums.lowHalf + sums.highHalf
                    let two = four.lowHalf + four.highHalf
                    to[x] = two.x + two.y
                    weights += vectors
                }
            }
        }
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
