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

/// Resamples a picture by the Lanczos kernel in one pass over its rows: columns first, then rows.
///
/// Reducing, it keeps the sums of the rows of the result to which the last rows of the source belong: six, at edges ten, whatever the
/// ratio is, and those that a batch begins.
/// Enlarging, it keeps the last rows of the source, already enlarged, and limits each result to the range of the samples around it
/// (``EnlargementLimits``). All sums are in the order of columns and rows, and no product is
/// fused with a sum, so the bits are the same on each processor. Figures are in MEASURED.md beside this file.
final class RowReducer {
    private let planes: Int
    private let columns: ColumnWeights
    private let rows: LanczosTable
    private let sink: any LightSink
    /// The kept rows of a part of the columns, then those of the next part: a part is read as one stream, which the processor prefetches. With
    /// whole rows side by side, the loop waited for each of them.
    private let memory: UnsafeMutablePointer<Float>
    /// Kept rows: sums, or rows of the source.
    private let slots: Int
    private let keepsSums: Bool
    /// The limits of columns and of rows; nil for an axis that is not enlarged.
    private let columnLimits, rowLimits: EnlargementLimits?
    /// The next row of the result.
    private var next = 0
    /// The next row of the result whose sums are not begun.
    private var begun = 0

    /// - Parameter columns, rows: what part of the source becomes the result, with both counts of the sink's row.
    init(_ source: RowFormat, columns: ReductionAxis, rows: ReductionAxis, into sink: any LightSink)
    {
        planes = source.planes
        self.sink = sink
        self.columns = ColumnWeights(columns.table(of: source.width), planes: source.planes)
        self.rows = rows.table(of: source.height)
        columnLimits = EnlargementLimits(columns, of: source.width)
        rowLimits = EnlargementLimits(rows, of: source.height)
        keepsSums = rows.step >= 1
        slots = keepsSums ? Self.openRows(self.rows) : self.rows.taps + LightLevel.rows - 1
        memory = RowMemory.zeros(slots * planes * Self.room(columns.count))
    }

    deinit { RowMemory.free(memory) }

    /// Returns the most rows of the result to whose sums a batch is added. There are some more at the edges, where weights lie on the first or
    /// last rows of the source.
    private static func openRows(_ table: LanczosTable) -> Int {
        var (most, end) = (1, 0)
        for y in table.starts.indices {
            while end < table.starts.count,
                table.starts[end] < table.starts[y] + table.taps + LightLevel.rows - 1
            {
                end += 1
            }
            most = max(most, end - y)
        }
        return most
    }

    /// The samples for which a kept row has room: whole parts.
    private static func room(_ width: Int) -> Int {
        (width + ColumnWeights.part - 1) / ColumnWeights.part * ColumnWeights.part
    }

    /// A part of a plane of a kept row.
    private func slot(_ number: Int, _ part: Range<Int>, _ plane: Int) -> UnsafeMutablePointer<
        Float
    > {
        memory
            + (part.lowerBound * slots * planes
                + (plane * slots + number % slots) * ColumnWeights.part)
    }

    /// Adds the next rows of the source.
    ///
    /// - Parameters:
    ///   - numbers: of the rows, which follow those before: a batch of ``LightLevel/rows``, or the last ones.
    ///   - batch: the first of them.
    ///   - apart: samples from one to the next; there is memory for a whole batch.
    func add(_ numbers: Range<Int>, _ batch: PlanarRow, apart: Int) throws(Failure) {
        var end = next
        while end < rows.starts.count, rows.starts[end] < numbers.upperBound { end += 1 }
        columns.apply(to: batch, apart: apart, rows: numbers.count) { part, made in
            if let columnLimits {
                for plane in 0..<planes {
                    for row in 0..<numbers.count {
                        columnLimits.limit(
                            made[plane] + row * ColumnWeights.part, part,
                            of: batch[plane] + row * apart)
                    }
                }
            }
            if keepsSums {
                addToSums(numbers, next..<end, part, made)
            } else {
                keep(numbers, part, made)
            }
        }
        begun = max(begun, end)
        while next < end, rows.starts[next] + rows.taps <= numbers.upperBound {
            make(next, in: sink.room)
            next += 1
            try sink.take()
        }
    }

    private func addToSums(
        _ numbers: Range<Int>, _ results: Range<Int>, _ part: Range<Int>, _ made: PlanarRow
    ) {
        let (planes, taps, count) = (planes, rows.taps, part.count)
        rows.weights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            // Plane by plane, whose rows and sums fit into the first-level cache.
            for plane in 0..<planes {
                let rowsMade = made[plane]
                for y in results {
                    let sums = slot(y, part, plane)
                    let start = rows.starts[y]
                    let first = max(start, numbers.lowerBound)
                    if y >= begun { sums.update(repeating: 0, count: (count + 7) & ~7) }
                    Self.add(
                        min(start &+ taps, numbers.upperBound) &- first,
                        rowsMade + (first &- numbers.lowerBound) &* ColumnWeights.part,
                        weights + (y &* taps &+ first &- start), to: sums, count)
                }
            }
        }
    }

    private func keep(_ numbers: Range<Int>, _ part: Range<Int>, _ made: PlanarRow) {
        for number in numbers {
            for plane in 0..<planes {
                let row = made[plane] + (number - numbers.lowerBound) * ColumnWeights.part
                slot(number, part, plane).update(from: row, count: part.count)
            }
        }
    }

    /// Adds weighted rows to sums, in their order.
    @inline(__always)
    private static func add(
        _ taps: Int, _ rows: UnsafePointer<Float>, _ weights: UnsafePointer<Float>,
        to sums: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        // A loop for each number, so that a sum is loaded and stored once, and all weights stay in registers.
        switch taps {
        case 1: pass(1, rows, weights, sums, count)
        case 2: pass(2, rows, weights, sums, count)
        case 3: pass(3, rows, weights, sums, count)
        case 4: pass(4, rows, weights, sums, count)
        case 5: pass(5, rows, weights, sums, count)
        case 6: pass(6, rows, weights, sums, count)
        case 7: pass(7, rows, weights, sums, count)
        case 8: pass(8, rows, weights, sums, count)
        default: break
        }
    }

    @inline(__always)
    private static func pass(
        _ taps: Int, _ rows: UnsafePointer<Float>, _ weights: UnsafePointer<Float>,
        _ sums: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        let apart = ColumnWeights.part
        func weight(_ tap: Int) -> Octet { Octet(repeating: tap < taps ? weights[tap] : 0) }
        let (a, b, c, d) = (weight(0), weight(1), weight(2), weight(3))
        let (e, f, g, h) = (weight(4), weight(5), weight(6), weight(7))
        var x = 0
        while x < count {
            let row = rows + x
            var sum = sums.octet(x) + a * row.octet(0)
            if taps > 1 { sum += b * row.octet(apart) }
            if taps > 2 { sum += c * row.octet(2 &* apart) }
            if taps > 3 { sum += d * row.octet(3 &* apart) }
            if taps > 4 { sum += e * row.octet(4 &* apart) }
            if taps > 5 { sum += f * row.octet(5 &* apart) }
            if taps > 6 { sum += g * row.octet(6 &* apart) }
            if taps > 7 { sum += h * row.octet(7 &* apart) }
            sums.setOctet(x, sum)
            x &+= 8
        }
    }

    /// Makes a row of the result whose rows are all there.
    private func make(_ y: Int, in room: PlanarRow) {
        for left in stride(from: 0, to: columns.count, by: ColumnWeights.part) {
            let part = left..<min(left + ColumnWeights.part, columns.count)
            for plane in 0..<planes {
                let sums = room[plane] + left
                guard !keepsSums else {
                    sums.update(from: slot(y, part, plane), count: part.count)
                    continue
                }
                sums.update(repeating: 0, count: part.count)
                for tap in 0..<rows.taps {
                    let weight = rows.weights[y * rows.taps + tap]
                    let row = slot(rows.starts[y] + tap, part, plane)
                    for x in 0..<part.count { sums[x] += weight * row[x] }
                }
                rowLimits?.limit(sums, part.count, of: y) { slot($0, part, plane) }
            }
        }
    }

    /// Bytes that it keeps.
    static func bytes(_ source: RowFormat, columns: ReductionAxis, rows: ReductionAxis) -> Int {
        // Six rows are open in the middle, and the sums of four more at an edge; a batch begins more.
        let batch = Int((Double(LightLevel.rows - 1) / max(1, rows.step)).rounded(.up))
        let slots = rows.step >= 1 ? 11 + batch : min(source.height, 7) + LightLevel.rows - 1
        return slots * source.planes * room(columns.count) * MemoryLayout<Float>.stride
            + ColumnWeights.bytes(columns, planes: source.planes)
    }
}
