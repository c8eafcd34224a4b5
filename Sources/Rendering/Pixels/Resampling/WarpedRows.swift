package import Edits
import Filters

/// A picture warped row by row from a window of its source's rows.
///
/// For geometries that read their source from top to bottom, see ``Planner/streams(_:)``.
package final class WarpedRows: RowSource {
    package let format: RowFormat
    private let source: any RowSource
    private let geometry: Geometry
    private let shrink: (columns: Int, rows: Int)
    private let warp: BicubicWarp
    private let segments: BicubicWarp.Segments
    /// The window: row y of the source is at y mod its capacity.
    private let window: InterleavedRows
    private let planes: ScratchRow
    private var made = 0
    private var y = 0
    /// The rows of the source that a strip of the result may read, and the addresses of these rows and of their neighbours.
    private var rows = 0..<0
    private var lines: [UnsafePointer<Float>] = []

    /// - Parameters:
    ///   - source: the source, shrunk by `shrink`.
    package init(_ source: any RowSource, _ geometry: Geometry, shrink: (columns: Int, rows: Int)) {
        self.source = source
        self.geometry = geometry
        self.shrink = shrink
        warp = BicubicWarp(geometry, shrink: shrink)
        segments = warp.segments()
        let (full, planes) = (source.format, source.format.planes)
        let shown = (geometry.streamingRows ?? geometry.source.height) / shrink.rows + 1
        let beside = warp.margin * max(shrink.columns, shrink.rows) / shrink.rows + 1
        window = InterleavedRows(
            width: full.width, bands: planes,
            capacity: min(full.height, shown + 2 * beside + 1), margin: warp.reach)
        self.planes = ScratchRow(width: full.width, planes: planes)
        format = RowFormat(
            width: geometry.size.width, height: geometry.size.height, planes: planes)
    }

    package func next(into row: PlanarRow) {
        if y % Geometry.strip == 0 { beginStrip() }
        defer { y += 1 }
        guard !rows.isEmpty else {
            for plane in 0..<format.planes {
                row[plane].update(repeating: 0, count: format.width)
            }
            return
        }
        lines.withUnsafeBufferPointer { lines in
            guard let lines = lines.baseAddress else { return }
            let source = WarpedSource(
                lines: lines, bands: format.planes, columns: 0..<window.width, rows: rows,
                reach: warp.reach)
            warp.run(row: y, columns: 0..<format.width, from: source, with: segments, into: row)
        }
    }

    private func beginStrip() {
        let height = min(Geometry.strip, format.height - y)
        let strip = PixelArea(left: 0, top: y, width: format.width, height: height)
        guard let area = geometry.read(of: strip, margin: warp.margin, shrink: shrink) else {
            rows = 0..<0
            return
        }
        rows = area.top..<min(area.top + area.height, source.format.height)
        while made < rows.upperBound {
            let slot = made % window.capacity
            if let source = source as? any InterleavedSource {
                source.next(interleaved: window.row(slot))
            } else {
                source.next(into: planes.row)
                window.set(slot, from: planes.row)
            }
            window.fillMargins(slot, window.width)
            made += 1
        }
        precondition(
            rows.lowerBound >= made - window.capacity,
            "row \(rows.lowerBound) is gone; \(made) are made")
        lines = (-warp.reach..<rows.count + warp.reach).map { offset in
            let row = rows.lowerBound + min(max(offset, 0), rows.count - 1)
            return UnsafePointer(window.row(row % window.capacity))
        }
    }
}

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

/// Rows of interleaved samples from which a warp interpolates. The memory belongs to the caller.
package struct WarpedSource {
    /// By row from `top` − `reach` on: the address of column 0, which may be outside the row. Rows outside the picture repeat the
    /// outermost row.
    package let lines: UnsafePointer<UnsafePointer<Float>>
    /// Channels, 3 or 4: the number of samples from one pixel to the next.
    package let bands: Int
    /// The columns and rows in which positions may lie; pixels beyond them equal the outermost.
    package let columns, rows: Range<Int>
    /// Rows above the first and below the last that can be read; as many columns on both sides, and one sample.
    package let reach: Int
}

/// A picture whose rows can also be made with interleaved samples.
package protocol InterleavedSource: RowSource {
    func next(interleaved row: UnsafeMutablePointer<Float>)
}

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
