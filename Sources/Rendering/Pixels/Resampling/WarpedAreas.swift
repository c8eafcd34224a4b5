package import Edits
import Filters

/// A picture warped row by row from a source that can be read in any order.
///
/// A band of the result is made at a time, in squares, each from the rectangle of the source that is visible in it. The filters
/// before the warp run over the rectangle when it is read, so that the source can be kept as codes, and not as light.
package final class WarpedAreas: PhotoSource {
    package let format: RowFormat
    package var reader: (any PhotoReader)?
    package private(set) var hasFailed = false
    private let geometry: Geometry
    private let shrink: (columns: Int, rows: Int)
    private let program: PixelProgram
    private let warp: BicubicWarp
    private let segments: BicubicWarp.Segments
    private let band: [ScratchRow]
    /// The rectangle of the source that was read last, as linear light.
    private var area: InterleavedRows?
    private var y = 0

    /// Columns and rows of a square. The source's rectangles of larger squares would exceed the second-level cache; those of
    /// smaller ones would overlap more.
    private static let side = 128

    /// - Parameters:
    ///   - geometry: its source, shrunk, is the picture that is read.
    ///   - program: converts read pixels to interleaved light.
    package init(_ geometry: Geometry, _ program: PixelProgram) {
        self.geometry = geometry
        shrink = geometry.shrink
        self.program = program
        warp = BicubicWarp(geometry, shrink: shrink)
        segments = warp.segments()
        format = RowFormat(
            width: geometry.size.width, height: geometry.size.height, planes: program.target.bands)
        band = (0..<min(Self.side, format.height)).map { [format] _ in
            ScratchRow(width: format.width, planes: format.planes)
        }
    }

    package func next(into row: PlanarRow) {
        if y % Self.side == 0 { makeBand() }
        for plane in 0..<format.planes {
            row[plane].update(from: band[y % Self.side].row[plane], count: format.width)
        }
        y += 1
    }

    private func makeBand() {
        let rows = y..<min(y + Self.side, format.height)
        for left in stride(from: 0, to: format.width, by: Self.side) {
            let columns = left..<min(left + Self.side, format.width)
            let square = PixelArea(
                left: left, top: y, width: columns.count, height: rows.count)
            if let read = geometry.read(of: square, margin: warp.margin, shrink: shrink) {
                make(columns, rows, from: read)
            } else {
                clear(columns, rows)
            }
        }
    }

    private func make(_ columns: Range<Int>, _ rows: Range<Int>, from read: PixelArea) {
        guard !hasFailed, let pixels = reader?.pixels(of: read) else {
            hasFailed = true
            return clear(columns, rows)
        }
        let light = room(for: read)
        for row in 0..<read.height {
            program.run(
                pixels.row(row), at: (read.left, read.top + row), count: read.width,
                into: light.row(row))
            light.fillMargins(row, read.width)
        }
        let top = rows.lowerBound
        let reach = warp.reach
        // The address of column 0 of the whole source, this far to the left.
        let lines = (-reach..<read.height + reach).map { row in
            UnsafePointer(light.row(min(max(row, 0), read.height - 1)))
                - read.left * format.planes
        }
        lines.withUnsafeBufferPointer { lines in
            guard let lines = lines.baseAddress else { return }
            let source = WarpedSource(
                lines: lines, bands: format.planes,
                columns: read.left..<read.left + read.width,
                rows: read.top..<read.top + read.height, reach: reach)
            for row in rows {
                warp.run(
                    row: row, columns: columns, from: source, with: segments,
                    into: band[row - top].row)
            }
        }
    }

    /// Returns memory for a rectangle of the source.
    private func room(for read: PixelArea) -> InterleavedRows {
        if let area, area.width >= read.width, area.capacity >= read.height { return area }
        let room = InterleavedRows(
            width: max(read.width, area?.width ?? 0), bands: format.planes,
            capacity: max(read.height, area?.capacity ?? 0), margin: warp.reach)
        area = room
        return room
    }

    /// Returns the bytes that it keeps.
    package static func bytes(_ geometry: Geometry, planes: Int) -> Int {
        let warp = BicubicWarp(geometry, shrink: geometry.shrink)
        let size = geometry.size
        let rows = min(side, size.height)
        // The source area of a turned square is half as wide again; if the picture shrinks, it is larger by that factor.
        let shown = 3 * side * (warp.margin - 1) / 4 + 2 * (warp.margin + warp.reach)
        let area = min(shown, geometry.source.width) * min(shown, geometry.source.height)
        return (size.width * rows + area) * planes * MemoryLayout<Float>.stride
    }

    private func clear(_ columns: Range<Int>, _ rows: Range<Int>) {
        for row in 0..<rows.count {
            for plane in 0..<format.planes {
                (band[row].row[plane] + columns.lowerBound).update(
                    repeating: 0, count: columns.count)
            }
        }
    }
}
