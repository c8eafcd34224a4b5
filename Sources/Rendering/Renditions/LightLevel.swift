import Edits
import Filters

/// A picture in rows from which smaller ones are made: the full picture, or a half, a quarter, an eighth of it.
final class LightLevel: LightSink {
    let format: RowFormat
    private var reducers: [RowReducer] = []
    private let memory: UnsafeMutablePointer<Float>
    private let stride: Int
    private var made = 0

    /// Rows that are handed on together, as many as an ``Octet`` has lanes.
    static let rows = 8

    init(_ format: RowFormat) {
        self.format = format
        stride = Self.stride(format)
        memory = RowMemory.zeros(Self.rows * format.planes * stride)
    }

    deinit { RowMemory.free(memory) }

    private static func stride(_ format: RowFormat) -> Int {
        // With the samples that halving reads beyond the width.
        (format.width + 4 * RowFormat.block + 15) & ~15
    }

    /// Bytes that it keeps, without its reducers.
    static func bytes(_ format: RowFormat) -> Int {
        rows * format.planes * stride(format) * MemoryLayout<Float>.stride
    }

    /// Adds a smaller picture that is made from this one; before the first row.
    func add(columns: ReductionAxis, rows: ReductionAxis, into sink: any LightSink) {
        reducers.append(RowReducer(format, columns: columns, rows: rows, into: sink))
    }

    private func row(_ number: Int) -> PlanarRow {
        PlanarRow(
            start: memory + number % Self.rows * format.planes * stride, stride: stride)
    }

    var room: PlanarRow { row(made) }

    func take() throws(Failure) {
        made += 1
        guard made % Self.rows == 0 || made == format.height else { return }
        let first = (made - 1) / Self.rows * Self.rows
        for reducer in reducers {
            try reducer.add(first..<made, row(first), apart: format.planes * stride)
        }
    }
}

/// The part of a picture that a smaller picture shows, and the smaller picture's size.
struct Reduction: Equatable {
    let columns, rows: ReductionAxis

    /// Returns the number of halvings after which the smaller picture is made.
    ///
    /// It depends on the ratio and on alpha, and not on what else is made of the picture, so the smaller picture has the same bits in any
    /// company. The last step has at least ``ratioMin(hasAlpha:)``, so that the error against one direct reduction stays small.
    func halvings(hasAlpha: Bool) -> Int {
        let ratio = min(columns.step, rows.step)
        var count = 0
        while ratio / Double(2 << count) >= Self.ratioMin(hasAlpha: hasAlpha) { count += 1 }
        return count
    }

    /// The least ratio of the last step, on both axes; figures are in MEASURED.md beside this file.
    ///
    /// With alpha it is higher: where little is covered, colours are quotients of small numbers, and errors grow.
    static func ratioMin(hasAlpha: Bool) -> Double { hasAlpha ? 2 : 1.45 }

    /// Returns an axis in a picture that is halved some times: exact places, also for odd sides.
    private static func axis(_ axis: ReductionAxis, halved count: Int) -> ReductionAxis {
        let scale = Double(1 << count)
        return ReductionAxis(
            count: axis.count, step: axis.step / scale, offset: axis.offset / scale)
    }

    /// Returns the axes of the last step.
    func lastStep(after halvings: Int) -> (columns: ReductionAxis, rows: ReductionAxis) {
        (Self.axis(columns, halved: halvings), Self.axis(rows, halved: halvings))
    }
}

/// The full picture and those of its halves that some smaller pictures need.
struct LightTree {
    /// The full picture first, then its half, its quarter …
    private var levels: [LightLevel]

    var root: LightLevel { levels[0] }

    init(_ format: RowFormat) { levels = [LightLevel(format)] }

    /// Adds a smaller picture.
    mutating func add(_ reduction: Reduction, into sink: any LightSink) {
        let halvings = reduction.halvings(hasAlpha: root.format.planes == 4)
        while levels.count <= halvings { addHalf() }
        let step = reduction.lastStep(after: halvings)
        levels[halvings].add(columns: step.columns, rows: step.rows, into: sink)
    }

    private mutating func addHalf() {
        let last = levels[levels.count - 1]
        let half = LightLevel(Self.half(of: last.format))
        last.add(
            columns: Self.halving(last.format.width), rows: Self.halving(last.format.height),
            into: half)
        levels.append(half)
    }

    private static func half(of format: RowFormat) -> RowFormat {
        RowFormat(
            width: (format.width + 1) / 2, height: (format.height + 1) / 2, planes: format.planes)
    }

    /// The last pixel of an odd side lies half outside.
    private static func halving(_ side: Int) -> ReductionAxis {
        ReductionAxis(count: (side + 1) / 2, step: 2, offset: 0)
    }

    /// Bytes that the rows of a tree take.
    static func bytes(_ format: RowFormat, _ reductions: [Reduction]) -> Int {
        var formats = [format]
        let halvings = reductions.map { $0.halvings(hasAlpha: format.planes == 4) }
        for _ in 0..<(halvings.max() ?? 0) {
            formats.append(half(of: formats[formats.count - 1]))
        }
        let levels = formats.reduce(0) { $0 + LightLevel.bytes($1) }
        let halves = formats.dropLast().reduce(0) {
            $0 + RowReducer.bytes($1, columns: halving($1.width), rows: halving($1.height))
        }
        let last = zip(reductions, halvings).reduce(0) { bytes, pair in
            let step = pair.0.lastStep(after: pair.1)
            return bytes
                + RowReducer.bytes(formats[pair.1], columns: step.columns, rows: step.rows)
        }
        return levels + halves + last
    }
}
