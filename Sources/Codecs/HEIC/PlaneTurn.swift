import PhotoFiles

/// Copies a plane of samples to its position in the upright picture.
package struct PlaneTurn {
    let transposes, flipsColumns, flipsRows: Bool

    /// Creates a turn: columns and rows are swapped first, then mirrored.
    package init(transposes: Bool, flipsColumns: Bool, flipsRows: Bool) {
        self.transposes = transposes
        (self.flipsColumns, self.flipsRows) = (flipsColumns, flipsRows)
    }

    init(_ placement: HEIFPlacement) {
        self.init(
            transposes: placement.transposes, flipsColumns: placement.flipsColumns,
            flipsRows: placement.flipsRows)
    }

    /// Samples that are copied together when rows become columns, so that source and target stay in the cache.
    private static let block = 16

    /// Copies samples from one plane to another.
    ///
    /// - Parameters:
    ///   - source: the first sample, and bytes from one row to the next.
    ///   - size: the size of the part of the source that is copied.
    ///   - room: the full size of the source, within which it is flipped.
    ///   - target: the first sample of the full upright plane, and bytes from one row to the next.
    package func copy<Sample>(
        _ source: (start: UnsafePointer<Sample>, stride: Int), size: (width: Int, height: Int),
        room: (width: Int, height: Int),
        to target: (start: UnsafeMutablePointer<Sample>, stride: Int)
    ) {
        let (from, to) = (source.start, target.start)
        let (fromStep, toStep) = (
            source.stride / MemoryLayout<Sample>.stride, target.stride / MemoryLayout<Sample>.stride
        )
        guard transposes else {
            for y in 0..<size.height {
                let row = to + (flipsRows ? room.height - 1 - y : y) * toStep
                let samples = from + y * fromStep
                if flipsColumns {
                    let last = row + (room.width - 1)
                    for x in 0..<size.width { last[-x] = samples[x] }
                } else {
                    row.update(from: samples, count: size.width)
                }
            }
            return
        }
        // A column of the source is a row of the target.
        let (rowStep, first) = (
            flipsRows ? -toStep : toStep, to + (flipsRows ? (room.width - 1) * toStep : 0)
        )
        let across = flipsColumns ? -1 : 1
        let origin = first + (flipsColumns ? room.height - 1 : 0)
        for top in stride(from: 0, to: size.height, by: Self.block) {
            for left in stride(from: 0, to: size.width, by: Self.block) {
                for x in left..<min(left + Self.block, size.width) {
                    let row = origin + x * rowStep
                    for y in top..<min(top + Self.block, size.height) {
                        row[y * across] = from[y * fromStep + x]
                    }
                }
            }
        }
    }
}
