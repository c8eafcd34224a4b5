import Edits
import Glibc

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

/// CIDiscBlur: the mean of a disc, like a defocused lens; on linear light multiplied by alpha.
///
/// Each row of the disc is a chord, whose sum is the difference of two prefix sums of the row. A disc of a large radius is computed
/// on a coarse grid (``SplineGrid``), reduced so that its variance, together with the grid's own blur, is right: the rim of a point
/// of light is then soft by a tenth of the radius.
struct CIDiscBlur: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIDiscBlur",
        summary: "Blurs the photo as a lens does that is out of focus.",
        category: .blur,
        parameters: [
            .number(
                "inputRadius", "The radius of the disc.", default: 8, BlurParameters.radiusRange,
                .pixels, identity: 0),
            BlurParameters.edge,
        ],
        fidelity: .measured(rms: 0.64),
        source: """
            The mean of a disc with soft rim. From a radius of 16 pixels on it is computed on a coarse grid, where the rim is \
            soft by a tenth of the radius.
            """,
        gain: .recomputed,
        light: .unlimited,
        kernel: .neighbourhood { filter, _ in CIDiscBlur(filter) })

    /// The radius, in samples of the grid, from which a coarser grid is used.
    static let gridRadius = 16.0

    let edge: EdgeMode
    let growth: Extent
    let reach: Extent
    private let grid: SplineGrid?
    private let disc: Disc

    init(_ filter: Filter) {
        let radius = filter.number("inputRadius")
        edge = BlurParameters.edge(of: filter)
        growth = BlurParameters.growth(by: radius > 0 ? radius + 2 : 0, edge)
        var step = 1
        while radius / Double(step) >= Self.gridRadius { step *= 2 }
        grid = step > 1 ? SplineGrid(step: step) : nil
        // A disc has the variance r²/4 in each direction. Shrinking and enlarging have four boxes of (step² − 1)/12 each.
        let own = grid == nil ? 0 : 8 * (Double(step * step) - 1) / 12
        disc = Disc(radius: (radius * radius - 4 * own).squareRoot() / Double(step))
        let pixels = Int((radius + 3 * Double(step)).rounded(.up))
        reach = radius > 0 ? Extent(columns: pixels, rows: pixels) : .none
    }

    func rows(from source: any RowSource) -> any RowSource {
        let source = source.padded(by: growth)
        guard let grid else { return DiscRows(source, disc, edge) }
        let window = RowWindow(
            source, rows: 2, margin: ShrunkRows.margin(for: grid), edge: edge)
        let cells = ShrunkRows(window, columns: grid, rows: grid, edge: edge)
        return EnlargedRows(
            DiscRows(cells, disc, edge), columns: grid, rows: grid, to: source.format, edge: edge)
    }
}

/// A disc as chords.
struct Disc: Sendable {
    /// Half the length of each row's chord, from the middle row on, averaged over the row's height.
    let halves: [Double]
    /// The disc's area in pixels.
    let area: Double

    init(radius: Double) {
        let rows = Int((radius + 0.5).rounded(.up))
        let parts = 64
        let chords = (0..<max(rows, 1)).map { row in
            (0..<parts).reduce(0.0) { sum, part in
                let y = Double(row) - 0.5 + (Double(part) + 0.5) / Double(parts)
                return sum + max(0, radius * radius - y * y).squareRoot()
            } / Double(parts)
        }
        // A pixel is never split: a radius below half a pixel changes nothing.
        halves = chords[0] <= 0.5 ? [0.5] : chords
        area = 2 * halves[0] + 4 * halves.dropFirst().reduce(0, +)
    }
}

/// Means of discs.
private final class DiscRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let disc: Disc
    private let margin: Int
    private var y = 0

    init(_ source: any RowSource, _ disc: Disc, _ edge: EdgeMode) {
        format = source.format
        self.disc = disc
        margin = Int(disc.halves[0].rounded(.up)) + 2
        let (rows, margin) = (disc.halves.count - 1, margin)
        // Prefix sums need no margin of their own, but those of the photo's row do.
        let sums = SummedRows(RowWindow(source, rows: 1, margin: margin, edge: edge), margin)
        window = RowWindow(sums, rows: 2 * rows + 1, margin: 0, edge: edge)
    }

    func next(into out: PlanarRow) {
        let share = Float(1 / disc.area)
        let rows = disc.halves.count - 1
        _ = window.row(y + rows)
        for plane in 0..<format.planes {
            let target = out[plane]
            target.update(repeating: 0, count: format.width)
            for row in -rows...rows {
                let sums = window.row(y + row)[plane] + margin
                let half = disc.halves[abs(row)]
                // A pixel x covers x to x + 1 of the prefix sums; the chord spans x + ½ − half to x + ½ + half.
                let end = half + 0.5
                let whole = Int(end)
                let part = Float(end - Double(whole))
                let (a, b) = (sums + whole, sums + whole + 1)
                let (c, d) = (sums + 1 - whole, sums - whole)
                for x in 0..<format.width {
                    target[x] += share * ((a[x] - c[x]) + part * ((b[x] - a[x]) + (c[x] - d[x])))
                }
            }
        }
        y += 1
    }
}

/// Prefix sums of a row: for each sample, the sum of all samples before it, starting `margin` before the picture.
private final class SummedRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let margin: Int
    private var y = 0

    init(_ window: RowWindow, _ margin: Int) {
        self.window = window
        self.margin = margin
        format = RowFormat(
            width: window.format.width + 2 * margin, height: window.format.height,
            planes: window.format.planes)
    }

    func next(into out: PlanarRow) {
        for plane in 0..<format.planes {
            let (samples, target) = (window.row(y)[plane] - margin, out[plane])
            var sum = 0.0
            for x in 0..<format.width {
                target[x] = Float(sum)
                sum += Double(samples[x])
            }
        }
        y += 1
    }
}
