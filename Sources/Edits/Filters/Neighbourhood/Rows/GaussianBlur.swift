import Edits

/// A Gaussian blur along columns, rows or both, whose cost does not grow with its width.
///
/// A narrow one is a weighted sum of neighbours. A wide one is computed on a coarse grid (``SplineGrid``),
/// where it is narrow again.
///
/// Alternatives that were measured, 24 MP, JPEG to JPEG, one thread of Zen 4, as multiples of decoding and encoding alone (0.099
/// s):
///
/// | how | radius 2.9 | 8 | 100 |
/// |---|---:|---:|---:|
/// | sums of neighbours, two pairs at a time through memory | 5.9 | | |
/// | sums of neighbours, eight in registers | 4.2 | | |
/// | coarse grid, cubic B-splines, σ of 1.5 to 3 steps | | 2.6 | 2.2 |
/// | libvips, integers on encoded values | | 6.6 | |
///
/// On the grid, a spline of two boxes instead of four has an error of 4 codes at σ = 1.5 steps and still 0.5 at 4; cutting kernels
/// at 3 σ instead of 3.75 has an error of 2.4 codes beside white.
struct GaussianBlur: Sendable {
    /// Along a row, and along a column, in pixels; 0 leaves that direction unchanged.
    let sigma: (columns: Double, rows: Double)
    let edge: EdgeMode
    /// The values that are blurred.
    let space: Space

    /// The encoding of the blurred values.
    enum Space {
        /// Linear light, as in Core Image.
        case linear
        /// sRGB-encoded values, as in CSS, and in Core Image until iOS 8.
        case encoded
    }

    private let stepMax: Int
    private let columns: Axis?
    private let rows: Axis?

    init(
        columns: Double, rows: Double, edge: EdgeMode = .clamp, space: Space = .linear,
        stepMax: Int = .max
    ) {
        sigma = (columns, rows)
        self.edge = edge
        self.space = space
        self.stepMax = stepMax
        self.columns = Axis(columns, stepMax)
        self.rows = Axis(rows, stepMax)
    }

    /// The distance to each side beyond which all weights are negligible.
    var reach: Extent { Extent(columns: columns?.reach ?? 0, rows: rows?.reach ?? 0) }

    /// Multiplications per sample of a large picture: four to shrink and four to enlarge in each direction, half of them on a side
    /// that is already small, and the kernels on the grid.
    var multiplications: Double {
        let (x, y) = (columns?.step ?? 1, rows?.step ?? 1)
        let weights = (columns?.kernel.weights.count ?? 0) + (rows?.kernel.weights.count ?? 0)
        return (rows?.grid == nil ? 0 : 4 + 4 / x) + (columns?.grid == nil ? 0 : 4 + 4 / y)
            + Double(weights) / (x * y)
    }

    /// Rows, from the current row on, that the window must keep so that it can be read together with the blur: the distance by
    /// which the blur reads ahead.
    var ahead: Int { rows?.ahead ?? 0 }

    /// Columns beside the picture that the window must have.
    var margin: Int {
        guard let columns else { return 0 }
        return columns.grid.map { ShrunkRows.margin(for: $0) }
            ?? columns.kernel.reach
    }

    /// Rows that the window must keep for the blur alone.
    var windowRows: Int {
        guard let rows else { return 1 }
        return rows.grid == nil ? 2 * rows.kernel.reach + SeparableRows.together : 2
    }

    /// Blurs a picture.
    func rows(from source: any RowSource) -> any RowSource {
        rows(in: RowWindow(source, rows: windowRows, margin: margin, edge: edge))
    }

    /// Blurs a picture whose window has other readers too.
    func rows(in window: RowWindow) -> any RowSource {
        guard space == .linear else {
            let encoded = CurvedRows(CopiedRows(window), .encoding)
            let blur = GaussianBlur(
                columns: sigma.columns, rows: sigma.rows, edge: edge, stepMax: stepMax)
            return CurvedRows(blur.rows(from: encoded), .decoding)
        }
        let full = window.format
        let (gridX, gridY) = (columns?.grid, rows?.grid)
        if gridX == nil, gridY == nil {
            return SeparableRows(
                window, columns: columns?.kernel, rows: rows?.kernel,
                together: SeparableRows.together)
        }
        let small = RowWindow(
            ShrunkRows(window, columns: gridX, rows: gridY, edge: edge),
            rows: 2 * (rows?.kernel.reach ?? 0) + 1, margin: columns?.kernel.reach ?? 0,
            edge: edge)
        return EnlargedRows(
            SeparableRows(small, columns: columns?.kernel, rows: rows?.kernel),
            columns: gridX, rows: gridY, to: full, edge: edge)
    }

    /// One direction.
    struct Axis: Sendable {
        let grid: SplineGrid?
        let kernel: SymmetricKernel
        let reach: Int

        init?(_ sigma: Double, _ stepMax: Int) {
            guard sigma > 0 else { return nil }
            grid = SplineGrid.forGaussian(sigma: sigma, stepMax: stepMax)
            kernel = grid?.gaussian(sigma: sigma) ?? .gaussian(sigma: sigma)
            reach = Int((SymmetricKernel.cutoff * sigma).rounded(.up))
        }

        var step: Double { Double(grid?.step ?? 1) }

        var ahead: Int {
            // Two cells for enlarging, the kernel, and two for shrinking, from the next whole cell on.
            grid.map { ($0.step * (kernel.reach + 4)) }
                ?? (kernel.reach + SeparableRows.together - 1)
        }
    }
}
