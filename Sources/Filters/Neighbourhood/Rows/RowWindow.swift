package import Adjustments

/// The last rows of a picture, which any number of readers look at, and what lies beside and beyond
/// them.
///
/// Rows are made when they are asked for. Each is made once, so a filter that combines a picture with
/// its own blur reads the photo once.
package final class RowWindow {
    package let format: RowFormat
    /// Rows that are kept.
    let capacity: Int
    /// Columns beside the picture that can be read.
    let margin: Int
    private let edge: EdgeMode
    private let source: any RowSource
    private let memory: UnsafeMutablePointer<Float>
    private let stride: Int
    private let rowSize: Int
    private let outside: PlanarRow?
    private var made = 0

    /// - Parameters:
    ///   - rows: how many are kept: from the oldest to the newest that are asked for together.
    ///   - margin: columns that are read to the left and to the right of the picture.
    package init(_ source: any RowSource, rows: Int, margin: Int, edge: EdgeMode) {
        self.source = source
        self.edge = edge
        format = source.format
        capacity = max(1, min(rows, source.format.height))
        // Whole blocks, so that each row begins at the same place of a cache line.
        self.margin = (margin + 15) & ~15
        stride = (source.format.width + 2 * self.margin + RowFormat.block + 15) & ~15
        // An odd number of cache lines from row to row: what is read down a column then spreads over all
        // sets of the cache. A busy machine showed no gain; it costs nothing.
        rowSize = (format.planes * stride / 16 | 1) * 16
        // One row more, of zeros, for what is transparent.
        memory = RowMemory.zeros((capacity + 1) * rowSize)
        outside =
            edge == .transparent
            ? PlanarRow(
                start: memory + capacity * rowSize + self.margin, stride: stride)
            : nil
    }

    deinit { RowMemory.free(memory) }

    /// A row of the picture, or what goes on above and below it; sample 0 is the leftmost of the
    /// picture, and ``margin`` samples can be read on both sides of it.
    ///
    /// It is there until ``capacity`` more rows are made.
    package func row(_ y: Int) -> PlanarRow {
        if let outside, y < 0 || y >= format.height { return outside }
        let y = min(max(y, 0), format.height - 1)
        while made <= y { make() }
        precondition(y >= made - capacity, "row \(y) is gone; \(made) are made")
        return slot(y)
    }

    private func slot(_ y: Int) -> PlanarRow {
        PlanarRow(
            start: memory + (y % capacity) * rowSize + margin, stride: stride)
    }

    private func make() {
        let row = slot(made)
        source.next(into: row)
        made += 1
        guard margin > 0 else { return }
        for plane in 0..<format.planes {
            let samples = row[plane]
            let (first, last) =
                edge == .clamp ? (samples[0], samples[format.width - 1]) : (0, 0)
            (samples - margin).update(repeating: first, count: margin)
            (samples + format.width).update(repeating: last, count: margin)
        }
    }
}

/// A row of its own to compute in.
package final class ScratchRow {
    package let row: PlanarRow
    private let memory: UnsafeMutablePointer<Float>

    /// - Parameter margin: columns on both sides of the width.
    package init(width: Int, planes: Int, margin: Int = 0) {
        let margin = (margin + 15) & ~15
        let stride = (width + 2 * margin + RowFormat.block + 15) & ~15
        memory = RowMemory.zeros(stride * planes)
        row = PlanarRow(start: memory + margin, stride: stride)
    }

    deinit { RowMemory.free(memory) }
}
