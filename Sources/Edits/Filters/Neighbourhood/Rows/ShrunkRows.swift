import Edits

/// A picture shrunk to a grid's columns, rows or both.
///
/// Its cell 0 lies ``SplineGrid/before`` cells outside of the picture. Its outermost cells only cover the surroundings, so the
/// surroundings of a clamped picture are also those of the shrunk one.
final class ShrunkRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let columns: SplineGrid?
    private let rows: SplineGrid?
    private let edge: EdgeMode
    /// Sums of four rows of cells, in rotation; only if rows are shrunk.
    private let sums: [ScratchRow]
    private let columnWeights: [Float]
    /// Weights in the four cells, by a row's position in its block.
    private let rowWeights: [Quartet]
    private var y = 0
    private var block = -2 * SplineGrid.before

    /// - Parameters:
    ///   - window: a window of at least two rows, with a margin of ``margin(for:)``.
    ///   - columns, rows: the grid of each direction, nil for full resolution.
    init(_ window: RowWindow, columns: SplineGrid?, rows: SplineGrid?, edge: EdgeMode) {
        self.window = window
        self.columns = columns
        self.rows = rows
        self.edge = edge
        let full = window.format
        format = RowFormat(
            width: columns?.cells(along: full.width) ?? full.width,
            height: rows?.cells(along: full.height) ?? full.height, planes: full.planes)
        let margin = Self.margin(for: columns)
        sums =
            rows == nil
            ? []
            : (0..<4).map { _ in
                ScratchRow(width: full.width, planes: full.planes, margin: margin)
            }
        rowWeights = rows?.phases ?? []
        // One zero in front, so that their number is a multiple of four.
        columnWeights =
            columns.map { grid in
                (-2 * grid.step..<2 * grid.step).map { Float(grid.weight($0)) }
            } ?? []
    }

    /// Returns the columns beside the picture that shrinking reads.
    static func margin(for columns: SplineGrid?) -> Int { (columns?.step ?? 0) * 5 }

    func next(into out: PlanarRow) {
        guard let rows else {
            shrinkColumns(window.row(y), into: out)
            y += 1
            return
        }
        // Block b of rows contributes to the cells b − 1 to b + 2. The first blocks also contribute to cells before the first,
        // which are not needed.
        while block <= y - SplineGrid.before + 1 {
            clear(sums[(block + 2) & 3].row)
            add(block: block, step: rows.step)
            block += 1
        }
        shrinkColumns(sums[(y - SplineGrid.before) & 3].row, into: out)
        y += 1
    }

    private func clear(_ row: PlanarRow) {
        let margin = Self.margin(for: columns)
        for plane in 0..<format.planes {
            (row[plane] - margin).update(
                repeating: 0, count: window.format.width + 2 * margin)
        }
    }

    private func add(block: Int, step: Int) {
        let (first, end) = (block * step, (block + 1) * step)
        if end <= 0 || first >= window.format.height {
            guard edge == .clamp else { return }
            // All rows of the block are the same row.
            let row = window.row(first)
            let weights = rowWeights.reduce(.zero, +)
            for plane in 0..<format.planes {
                addRows(row[plane], row[plane], weights, .zero, plane, block)
            }
            return
        }
        for offset in Swift.stride(from: 0, to: step, by: 2) {
            let (upper, lower) = (window.row(first + offset), window.row(first + offset + 1))
            for plane in 0..<format.planes {
                addRows(
                    upper[plane], lower[plane], rowWeights[offset], rowWeights[offset + 1], plane,
                    block)
            }
        }
    }

    /// Adds two rows to four sums, so that each sample is read once. It uses explicit vectors, since the compiler cannot prove that
    /// six rows do not overlap.
    private func addRows(
        _ upper: UnsafeMutablePointer<Float>, _ lower: UnsafeMutablePointer<Float>,
        _ a: Quartet, _ b: Quartet, _ plane: Int, _ block: Int
    ) {
        let margin = (Self.margin(for: columns) + 7) & ~7
        let count = (window.format.width + margin + 7) & ~7
        let s0 = sums[(block - 1) & 3].row[plane]
        let s1 = sums[block & 3].row[plane]
        let s2 = sums[(block + 1) & 3].row[plane]
        let s3 = sums[(block + 2) & 3].row[plane]
        let (a0, a1, a2, a3) = (
            Octet(repeating: a[0]), Octet(repeating: a[1]), Octet(repeating: a[2]),
            Octet(repeating: a[3])
        )
        let (b0, b1, b2, b3) = (
            Octet(repeating: b[0]), Octet(repeating: b[1]), Octet(repeating: b[2]),
            Octet(repeating: b[3])
        )
        var i = -margin
        while i < count {
            let (u, l) = (upper.octet(i), lower.octet(i))
            s0.setOctet(i, s0.octet(i) + (a0 * u + b0 * l))
            s1.setOctet(i, s1.octet(i) + (a1 * u + b1 * l))
            s2.setOctet(i, s2.octet(i) + (a2 * u + b2 * l))
            s3.setOctet(i, s3.octet(i) + (a3 * u + b3 * l))
            i &+= 8
        }
    }

    private func shrinkColumns(_ row: PlanarRow, into out: PlanarRow) {
        let width = format.width
        guard let columns else {
            for plane in 0..<format.planes { out[plane].update(from: row[plane], count: width) }
            return
        }
        let step = columns.step
        columnWeights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            for plane in 0..<format.planes {
                let target = out[plane]
                // The pixel of the first weight of cell −before.
                var source = row[plane] - (SplineGrid.before + 2) * step
                for cell in 0..<width {
                    var sum = Quartet.zero
                    var i = 0
                    while i < 4 * step {
                        sum += weights.quartet(i) * source.quartet(i)
                        i += 4
                    }
                    target[cell] = (sum[0] + sum[2]) + (sum[1] + sum[3])
                    source += step
                }
            }
        }
    }
}

/// Four samples. Access whole vectors only: access to single elements was five times slower.
public typealias Quartet = SIMD4<Float>

/// Eight samples: one register with AVX, otherwise two. As for ``Quartet``, access whole vectors only.
public typealias Octet = SIMD8<Float>

extension UnsafePointer<Float> {
    /// Loads eight samples from an address, which need not be aligned.
    @inlinable @inline(__always)
    public func octet(_ index: Int) -> Octet {
        UnsafeRawPointer(self + index).loadUnaligned(as: Octet.self)
    }

    /// Loads four samples from an address, which need not be aligned.
    @inlinable @inline(__always)
    public func quartet(_ index: Int) -> Quartet {
        UnsafeRawPointer(self + index).loadUnaligned(as: Quartet.self)
    }
}

extension UnsafeMutablePointer<Float> {
    /// Eight samples from one on; they need not be aligned.
    @inlinable @inline(__always)
    public func octet(_ index: Int) -> Octet {
        UnsafeRawPointer(self + index).loadUnaligned(as: Octet.self)
    }

    /// Four samples from one on; they need not be aligned.
    @inlinable @inline(__always)
    public func quartet(_ index: Int) -> Quartet {
        UnsafeRawPointer(self + index).loadUnaligned(as: Quartet.self)
    }

    @inlinable @inline(__always)
    public func setOctet(_ index: Int, _ value: Octet) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: value, as: Octet.self)
    }

    @inlinable @inline(__always)
    public func setQuartet(_ index: Int, _ value: Quartet) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: value, as: Quartet.self)
    }
}

/// A picture on a grid's columns, rows or both, made by ``ShrunkRows``, enlarged to full resolution.
final class EnlargedRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let columns: SplineGrid?
    private let rows: SplineGrid?
    private let mixed: ScratchRow
    /// For steps that write further beyond a row than it has room; see ``RowFormat/block``.
    private let line: ScratchRow?
    private let rowWeights: [Quartet]
    /// By cell, the weights of all positions in a step.
    private let columnWeights: [Float]
    private var y = 0

    /// - Parameters:
    ///   - cells: the small picture.
    ///   - format: the format of the original picture.
    init(
        _ cells: any RowSource, columns: SplineGrid?, rows: SplineGrid?, to format: RowFormat,
        edge: EdgeMode
    ) {
        self.columns = columns
        self.rows = rows
        self.format = format
        window = RowWindow(
            cells, rows: rows == nil ? 1 : 4, margin: columns == nil ? 0 : 4, edge: edge)
        mixed = ScratchRow(
            width: cells.format.width, planes: format.planes, margin: window.margin)
        let step = columns?.step ?? 0
        line = step > RowFormat.block ? ScratchRow(width: format.width + step, planes: 1) : nil
        rowWeights = rows?.enlargingWeights ?? []
        columnWeights =
            columns.map { grid in
                (0..<4).flatMap { cell in grid.enlargingWeights.map { $0[cell] } }
            } ?? []
    }

    func next(into out: PlanarRow) {
        enlarge(rows.map { mix(y, $0) } ?? window.row(y), into: out)
        y += 1
    }

    /// Computes a row at full vertical resolution, still on the grid's columns.
    private func mix(_ y: Int, _ grid: SplineGrid) -> PlanarRow {
        let weights = rowWeights[y % grid.step]
        let first = y / grid.step - 1 + SplineGrid.before
        _ = window.row(first + 3)
        let rows = (0..<4).map { window.row(first + $0) }
        let margin = window.margin
        for plane in 0..<format.planes {
            SplineGrid.mix(
                rows.map { $0[plane] - margin }, weights, into: mixed.row[plane] - margin,
                window.format.width + 2 * margin)
        }
        return mixed.row
    }

    private func enlarge(_ row: PlanarRow, into out: PlanarRow) {
        let width = format.width
        guard let columns else {
            for plane in 0..<format.planes { out[plane].update(from: row[plane], count: width) }
            return
        }
        let blocks = (width + columns.step - 1) / columns.step
        columnWeights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            for plane in 0..<format.planes {
                columns.enlarge(
                    row[plane] + SplineGrid.before, weights, blocks,
                    into: line?.row[0] ?? out[plane])
                if let line { out[plane].update(from: line.row[0], count: width) }
            }
        }
    }
}
