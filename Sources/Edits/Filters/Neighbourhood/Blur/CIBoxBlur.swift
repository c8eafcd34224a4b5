import Edits

/// CIBoxBlur: the mean of a square, on linear light multiplied by alpha.
///
/// The square's side is the largest odd number up to `radius`: Core Image's own pixels for 40 are those of 39 × 39. The sums are
/// running sums: each sample is added once and subtracted once, whatever the side.
struct CIBoxBlur: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIBoxBlur",
        summary: "Blurs the photo by the mean of a square.",
        category: .blur,
        parameters: [
            .number(
                "inputRadius", "The side of the square.", default: 10,
                1...BlurParameters.radiusRange.upperBound, .pixels, identity: 1),
            BlurParameters.edge,
        ],
        fidelity: .measured(rms: 0.33),
        source: "The mean of a square whose side is the largest odd number up to the radius.",
        gain: .recomputed,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in CIBoxBlur(filter) })

    /// Pixels to each side of the middle.
    let side: Int
    let edge: EdgeMode
    let growth: Extent

    init(_ filter: Filter) {
        side = (Int(filter.number("inputRadius")) - 1) / 2
        edge = BlurParameters.edge(of: filter)
        growth = BlurParameters.growth(by: Double(side), edge)
    }

    var reach: Extent { Extent(columns: side, rows: side) }

    func rows(from source: any RowSource) -> any RowSource {
        BoxRows(source.padded(by: growth), side: side, edge: edge)
    }
}

/// Means of squares.
private final class BoxRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let side: Int
    /// Sums of columns over the rows around the current row.
    private let sums: ScratchRow
    private var y = 0

    init(_ source: any RowSource, side: Int, edge: EdgeMode) {
        // One more row: the row that leaves the square when another enters it.
        window = RowWindow(source, rows: 2 * side + 2, margin: side + 1, edge: edge)
        format = source.format
        self.side = side
        sums = ScratchRow(width: format.width, planes: format.planes, margin: side + 1)
    }

    func next(into out: PlanarRow) {
        let (width, margin) = (format.width, side + 1)
        let share = 1 / Float((2 * side + 1) * (2 * side + 1))
        for plane in 0..<format.planes {
            let sum = sums.row[plane]
            if y == 0 {
                for row in -side...side {
                    let added = window.row(row)[plane]
                    for x in -margin..<width + margin { sum[x] += added[x] }
                }
            } else {
                let (added, gone) = (
                    window.row(y + side)[plane], window.row(y - side - 1)[plane]
                )
                // The difference is computed first, so that constant input keeps the sum bit-identical.
                for x in -margin..<width + margin { sum[x] += added[x] - gone[x] }
            }
            let target = out[plane]
            var square: Float = 0
            for x in -side...side { square += sum[x] }
            target[0] = square * share
            for x in 1..<max(width, 1) {
                square += sum[x + side] - sum[x - side - 1]
                target[x] = square * share
            }
        }
        y += 1
    }
}
