import Edits

/// CIEdgeWork, a look-alike: white outlines on black, as in a woodcut.
///
///     d = blur(Y, radius / 1.6) − blur(Y, radius)        on encoded luminance
///     out = clamp(½ + 40 · (|d| − 0.02))                  grey
///
/// Apple only documents its appearance.
struct CIEdgeWork: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIEdgeWork",
        summary: "Draws the photo's outlines white on black, as in a woodcut.",
        category: .stylise,
        parameters: [
            .number(
                "inputRadius", "How thick the outlines are.", default: 3,
                BlurParameters.combinedRadiusRange,
                .pixels)
        ],
        fidelity: .lookAlike,
        source: """
            Apple's kernel is unpublished. Ours: the difference of two Gaussians (radius and radius / 1.6) of the encoded \
            luminance, with a threshold.
            """,
        gain: .dropped,
        kernel: .neighbourhood { filter, _ in CIEdgeWork(filter) })

    private let wide: GaussianBlur
    private let narrow: GaussianBlur

    init(_ filter: Filter) {
        let radius = filter.number("inputRadius")
        wide = BlurParameters.combined(radius)
        narrow = BlurParameters.combined(radius / 1.6)
    }

    var reach: Extent { wide.reach }

    func rows(from source: any RowSource) -> any RowSource {
        let alpha = source.format.planes == 4
        let window = RowWindow(
            source, rows: max(wide.ahead, narrow.ahead) + 1, margin: 0, edge: .clamp)
        let encoded = PlaneRows(window) { row, out, width in
            PlaneRows.luminance(row, out, width)
            LightCurve.encoding.applySigned(to: out, count: width)
        }
        let light = RowWindow(
            encoded,
            // One blur may read behind while the other reads ahead.
            rows: max(wide.ahead, narrow.ahead) + max(wide.windowRows, narrow.windowRows),
            margin: max(wide.margin, narrow.margin), edge: .clamp)
        let (soft, sharp) = (wide.rows(in: light), narrow.rows(in: light))
        let lines = ScratchRow(width: source.format.width, planes: 2)
        let (first, second) = (
            PlanarRow(start: lines.row[0], stride: 0), PlanarRow(start: lines.row[1], stride: 0)
        )
        return WindowedRows(window) { row, _, out, width in
            withExtendedLifetime(lines) {
                soft.next(into: first)
                sharp.next(into: second)
                let (a, b, grey) = (first.start, second.start, out[0])
                for x in 0..<width {
                    let line = 0.5 + 40 * ((b[x] - a[x]).magnitude - 0.02)
                    grey[x] = line < 0 ? 0 : line > 1 ? 1 : line
                }
                if alpha {
                    let (share, given) = (out[3], row[3])
                    for x in 0..<width {
                        share[x] = given[x]
                        grey[x] *= given[x]
                    }
                }
                out[1].update(from: grey, count: width)
                out[2].update(from: grey, count: width)
            }
        }
    }
}

/// Rows that are made from one row of a window each.
private final class WindowedRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let make: (_ row: PlanarRow, _ y: Int, _ out: PlanarRow, _ width: Int) -> Void
    private var y = 0

    init(
        _ window: RowWindow,
        _ make: @escaping (_ row: PlanarRow, _ y: Int, _ out: PlanarRow, _ width: Int) -> Void
    ) {
        self.window = window
        self.make = make
        format = window.format
    }

    func next(into out: PlanarRow) {
        make(window.row(y), y, out, format.width)
        y += 1
    }
}

/// CIEdges, a look-alike: the edges of the photo in colour on black.
///
///     out = clamp(intensity · √(gx² + gy²) / 4)    per linear channel, 3×3 Sobel differences
///
/// Apple's kernel is unpublished and no sample of it was found: never claim that this is equal. Outside the photo, its outermost
/// pixels are repeated. Alpha stays unchanged, and the edges are those of the picture multiplied by alpha.
struct CIEdges: NeighbourhoodFilter {
    static let definition = FilterDefinition(
        name: "CIEdges",
        summary: "Shows the edges of the photo in colour on black.",
        category: .stylise,
        parameters: [
            // Core Image documents no maximum; 100 is ours, ten times the slider's end.
            .number("inputIntensity", "How bright the edges are.", default: 1, 0...100)
        ],
        fidelity: .lookAlike,
        source: """
            Apple's kernel is unpublished and no sample of it was found. Ours: clamp(intensity · √(gx² + gy²) / 4) per \
            linear channel, 3×3 Sobel differences.
            """,
        gain: .dropped,
        kernel: .neighbourhood { filter, _ in CIEdges(filter) })

    let reach = Extent(columns: 1, rows: 1)
    private let gain: Float

    init(_ filter: Filter) { gain = Float(filter.number("inputIntensity") / 4) }

    func rows(from source: any RowSource) -> any RowSource {
        WindowRows(source, reach: 1) { [gain] window, y, out in
            let (above, here, below) = (window.row(y - 1), window.row(y), window.row(y + 1))
            for plane in 0..<3 {
                Self.edges(
                    above[plane], here[plane], below[plane], gain, out[plane],
                    window.format.width)
            }
            guard window.format.planes == 4 else { return }
            let (alpha, outAlpha) = (here[3], out[3])
            for x in 0..<window.format.width { outAlpha[x] = alpha[x] }
            for plane in 0..<3 {
                let edges = out[plane]
                for x in 0..<window.format.width { edges[x] *= alpha[x] }
            }
        }
    }

    private static func edges(
        _ above: UnsafePointer<Float>, _ here: UnsafePointer<Float>,
        _ below: UnsafePointer<Float>, _ gain: Float, _ out: UnsafeMutablePointer<Float>,
        _ width: Int
    ) {
        for x in 0..<width {
            let gx =
                above[x + 1] + 2 * here[x + 1] + below[x + 1]
                - (above[x - 1] + 2 * here[x - 1] + below[x - 1])
            let gy =
                below[x - 1] + 2 * below[x] + below[x + 1]
                - (above[x - 1] + 2 * above[x] + above[x + 1])
            let edge = gain * (gx * gx + gy * gy).squareRoot()
            out[x] = edge < 1 ? edge : 1
        }
    }
}

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

/// The common part of CIBloom and CIGloom: the brighter, or the darker, of a picture and its blur.
///
///     out = x + intensity · (max(x, blur(x)) − x)    bloom; with min it is gloom
///
/// It runs on linear light multiplied by alpha, and treats alpha like the colours.
struct Glow: NeighbourhoodFilter {
    let growth: Extent
    private let blur: GaussianBlur
    private let intensity: Float
    private let brightens: Bool

    init(_ filter: Filter, brightens: Bool, space: GaussianBlur.Space = .linear) {
        let radius = filter.number("inputRadius")
        blur = BlurParameters.combined(
            radius, edge: BlurParameters.edge(of: filter), space: space)
        intensity = Float(filter.number("inputIntensity"))
        growth = BlurParameters.growth(by: 3 * radius, blur.edge)
        self.brightens = brightens
    }

    var reach: Extent { blur.reach }
    var edge: EdgeMode { blur.edge }

    static func definition(
        _ name: String, _ summary: String, rms: Double, brightens: Bool
    ) -> FilterDefinition {
        FilterDefinition(
            name: name, summary: summary, category: .stylise,
            parameters: [
                .number(
                    "inputRadius", "How far the glow reaches: the σ of a Gaussian.", default: 10,
                    BlurParameters.combinedRadiusRange, .pixels),
                .number(
                    "inputIntensity", "How much of the effect there is.", default: 0.5, 0...1,
                    identity: 0),
                BlurParameters.edge,
            ],
            fidelity: .measured(rms: rms),
            source:
                "mix(x, \(brightens ? "max" : "min")(x, Gaussian(x)), intensity), σ = radius, on linear light multiplied by alpha.",
            gain: .dropped, light: .unlimited,
            kernel: .neighbourhood { filter, _ in Glow(filter, brightens: brightens) })
    }

    func rows(from source: any RowSource) -> any RowSource {
        CombinedRows(source.padded(by: growth), with: blur) {
            [intensity, brightens] picture, blurred, out, format in
            for plane in 0..<format.planes {
                let (x, soft, result) = (picture[plane], blurred[plane], out[plane])
                if brightens {
                    for i in 0..<format.width {
                        let change = soft[i] - x[i]
                        result[i] = x[i] + intensity * (change > 0 ? change : 0)
                    }
                } else {
                    for i in 0..<format.width {
                        let change = soft[i] - x[i]
                        result[i] = x[i] + intensity * (change < 0 ? change : 0)
                    }
                }
            }
        }
    }
}

/// CIGloom: mixed with its own blur where that is darker; see ``Glow``.
enum CIGloom {
    static let definition = Glow.definition(
        "CIGloom", "Lets dark parts of the photo spread into their surroundings.", rms: 0.27,
        brightens: false)
}

/// CIBloom: mixed with its own blur where that is brighter; see ``Glow``.
enum CIBloom {
    static let definition = Glow.definition(
        "CIBloom", "Lets bright parts of the photo glow into their surroundings.", rms: 0.34,
        brightens: true)
}
