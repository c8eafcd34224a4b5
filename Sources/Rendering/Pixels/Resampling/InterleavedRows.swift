package import Edits
import Filters

/// Some rows of a picture in memory, with interleaved samples, and margins that repeat the outermost columns.
package final class InterleavedRows {
    package let bands, width, capacity: Int
    private let margin, rowSize: Int
    private let memory: UnsafeMutablePointer<Float>

    /// - Parameters:
    ///   - capacity: the number of rows.
    ///   - margin: columns that can be read beyond each side.
    package init(width: Int, bands: Int, capacity: Int, margin: Int) {
        (self.width, self.bands, self.capacity, self.margin) = (width, bands, capacity, margin)
        // Three more samples, because pixels are read as four; rounded up to whole cache lines.
        rowSize = ((width + 2 * margin) * bands + 3 + 15) & ~15
        memory = RowMemory.zeros(rowSize * capacity)
    }

    deinit { RowMemory.free(memory) }

    /// Returns the address of column 0 of a row, 0 to ``capacity`` − 1.
    package func row(_ index: Int) -> UnsafeMutablePointer<Float> {
        memory + (index * rowSize + margin * bands)
    }

    /// Copies a row from planes, without its margins.
    package func set(_ index: Int, from planes: PlanarRow) {
        let samples = row(index)
        if bands == 3 {
            let (red, green, blue) = (planes[0], planes[1], planes[2])
            for x in 0..<width {
                samples[3 &* x] = red[x]
                samples[3 &* x &+ 1] = green[x]
                samples[3 &* x &+ 2] = blue[x]
            }
        } else {
            let (red, green, blue, alpha) = (planes[0], planes[1], planes[2], planes[3])
            for x in 0..<width {
                samples[4 &* x] = red[x]
                samples[4 &* x &+ 1] = green[x]
                samples[4 &* x &+ 2] = blue[x]
                samples[4 &* x &+ 3] = alpha[x]
            }
        }
    }

    /// Repeats the outermost columns of a row in its margins.
    ///
    /// - Parameter width: the number of valid columns.
    package func fillMargins(_ index: Int, _ width: Int) {
        let (first, end) = (row(index), row(index) + width * bands)
        for sample in 0..<margin * bands {
            (first - 1 - sample).pointee = first[bands - 1 - sample % bands]
            end[sample] = (end - bands)[sample % bands]
        }
    }
}
