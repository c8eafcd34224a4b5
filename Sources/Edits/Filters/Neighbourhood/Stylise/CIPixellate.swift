import Edits

/// CIPixellate: square cells, each in the colour at its centre.
///
/// The colour is that of the centre point, interpolated between the four pixels around it, not the mean of the cell. Measured
/// against Core Image's own pixels; the mean would differ by 15 of 255.
struct CIPixellate: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIPixellate",
        summary: "Makes the photo of large squares.",
        category: .stylise,
        parameters: [
            .point("inputCenter", "Where corners of four cells meet.", default: [150, 150]),
            // Core Image documents no maximum; 10,000 pixels is ours: a photo has at most a few such cells.
            .number(
                "inputScale", "The side of a cell.", default: 8, 1...10_000, .pixels),
        ],
        fidelity: .measured(rms: 0.3),
        source:
            "Each cell takes the colour at its centre point, interpolated, not the cell's mean.",
        gain: .dropped,
        light: .unlimited,
        kernel: .neighbourhood { filter, context in CIPixellate(filter, context.size) })

    private let columns: Cells
    private let rows: Cells
    let reach: Extent

    init(_ filter: Filter, _ size: PixelSize) {
        let center = filter.vector("inputCenter")
        let scale = filter.number("inputScale")
        columns = Cells(corner: center[0], side: scale)
        // Core Image counts rows from the bottom.
        rows = Cells(corner: Double(size.height) - center[1], side: scale)
        let half = Int((scale / 2).rounded(.up))
        reach = Extent(columns: half, rows: half)
    }

    /// Cells along one direction.
    struct Cells {
        let corner, side: Double

        /// Returns the number of the cell that contains a pixel's centre.
        func number(at pixel: Int) -> Double {
            ((Double(pixel) + 0.5 - corner) / side).rounded(.down)
        }

        /// Returns the pixel before the centre of a pixel's cell, and the weight of the pixel after it.
        func centre(at pixel: Int, count: Int) -> (Int, Float) {
            let position = corner + (number(at: pixel) + 0.5) * side - 0.5
            let inside = min(max(position, 0), Double(count - 1))
            return (Int(inside), Float(inside - inside.rounded(.down)))
        }
    }

    func rows(from source: any RowSource) -> any RowSource {
        let format = source.format
        let centres = (0..<format.width).map { columns.centre(at: $0, count: format.width) }
        let line = ScratchRow(width: format.width, planes: format.planes)
        var made: Double?
        return WindowRows(source, reach: 1) { [rows] window, y, out in
            let width = format.width
            if made != rows.number(at: y) {
                made = rows.number(at: y)
                let (top, share) = rows.centre(at: y, count: format.height)
                let (lower, upper) = (window.row(top + 1), window.row(top))
                for plane in 0..<format.planes {
                    let (a, b, target) = (upper[plane], lower[plane], line.row[plane])
                    for x in 0..<width {
                        let (left, part) = centres[x]
                        let above = a[left] + part * (a[left + 1] - a[left])
                        let below = b[left] + part * (b[left + 1] - b[left])
                        target[x] = above + share * (below - above)
                    }
                }
            }
            for plane in 0..<format.planes {
                out[plane].update(from: line.row[plane], count: width)
            }
        }
    }
}
