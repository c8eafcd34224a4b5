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
