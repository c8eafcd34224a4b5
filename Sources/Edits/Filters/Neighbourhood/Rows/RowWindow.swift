package import Edits

/// The last rows of a picture, with their surroundings, for any number of readers.
///
/// Rows are made on request. Each is made once, so a filter that combines a picture with its own blur reads the photo once.
package final class RowWindow {
    package let format: RowFormat
    /// The number of rows that are kept.
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
    ///   - rows: the number of rows to keep: from the oldest to the newest that are needed together.
    ///   - margin: columns that are read to the left and to the right of the picture.
    package init(_ source: any RowSource, rows: Int, margin: Int, edge: EdgeMode) {
        self.source = source
        self.edge = edge
        format = source.format
        capacity = max(1, min(rows, source.format.height))
        // Whole blocks, so that each row begins at the same offset in a cache line.
        self.margin = (margin + 15) & ~15
        stride = (source.format.width + 2 * self.margin + RowFormat.block + 15) & ~15
        // An odd number of cache lines from row to row, so that reads down a column spread over all sets of the cache. There was no
        // gain on a busy machine, but it is free.
        rowSize = (format.planes * stride / 16 | 1) * 16
        // One more row, of zeros, for transparent surroundings.
        memory = RowMemory.zeros((capacity + 1) * rowSize)
        outside =
            edge == .transparent
            ? PlanarRow(
                start: memory + capacity * rowSize + self.margin, stride: stride)
            : nil
    }

    deinit { RowMemory.free(memory) }

    /// Returns a row of the picture, or of its surroundings above and below. Sample 0 is the leftmost of the picture, and
    /// ``margin`` samples can be read on both sides.
    ///
    /// It is valid until ``capacity`` more rows are made.
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

/// A separate row for intermediate results.
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
