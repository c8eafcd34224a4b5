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
