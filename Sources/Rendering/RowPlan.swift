import Adjustments
import Filters
import Pixels
import Vips

/// Passes over a photo of which at least one makes rows from rows, as one run from top to bottom.
///
/// Rows of the photo become planes of linear light, go from pass to pass, each of which keeps the rows that it needs,
/// and become codes again. There are no pictures in between.
struct RowPlan {
    /// A first geometry that does not stream reads the photo in any order.
    let passes: [Pass]
    /// By what the photo is shrunk after them.
    var shrink = (columns: 1, rows: 1)
    let source: PixelProgram.Layout
    let target: PixelProgram.Layout
    let colour, targetColour: PhotoColour
    let background: Recipe.Background
    /// Threads that may make the rows together.
    var threads = 1

    /// Whether a pass can be one of rows, wherever it stands.
    static func takes(_ pass: Pass) -> Bool {
        guard case .geometry(let geometry) = pass else { return true }
        if case .turn = geometry.kind { return false }
        return Planner.streams(geometry)
    }

    /// Whether passes make a photo transparent in part, whatever it was.
    static func makeAlpha(_ passes: [Pass]) -> Bool {
        passes.contains {
            switch $0 {
            case .pixels: $0.changesAlpha
            case .neighbourhood(_, let filter): filter.edge == .transparent
            case .geometry(let geometry): !geometry.edges.isEmpty
            }
        }
    }

    /// The rows that passes make, but for filters of single pixels.
    static func rows(of passes: [Pass], from source: any RowSource) -> any RowSource {
        passes.reduce(source) { rows, pass in
            switch pass {
            case .pixels: rows
            case .neighbourhood(_, let filter): filter.rows(from: rows)
            case .geometry(let geometry): geometry.rows(from: rows)
            }
        }
    }

    /// Planes of linear light that the passes see.
    private var planes: PixelProgram.Layout {
        .init(sample: .planes, bands: source.hasAlpha || Self.makeAlpha(passes) ? 4 : 3)
    }

    /// The photo with the passes run over it.
    func run(over photo: Image) throws(VipsError) -> Image {
        let (rows, result) = rows(PixelSize(width: photo.width, height: photo.height))
        return try photo.computingRows(
            target.picture(width: result.width, height: result.height), CodedMaker(rows))
    }

    /// Rows of the result, made by as many threads as there are parts of the chain.
    func rows(_ size: PixelSize) -> sending (any CodedRowSource, RowFormat) {
        let cuts = StageCuts(of: passes, threads: threads)
        guard let cuts, let stages = RowStages(parts: cuts.places.count + 1) else {
            let (rows, _) = chain(size) { rows, _ in rows }
            return (rows, rows.format)
        }
        let reader = stages.read(
            width: size.width, height: size.height, rowBytes: size.width * source.pixelBytes)
        let (rows, photo) = chain(size) { rows, place in
            cuts.places.contains(place) ? stages.cut(rows) : rows
        }
        photo.reader = reader
        stages.finish(rows, rowBytes: rows.format.width * target.pixelBytes)
        return (stages, rows.format)
    }

    /// The chain from the photo to codes.
    ///
    /// - Parameter cut: given the rows of each pass but those of pixels, and which pass it is, from 1; gives what the chain
    ///   goes on with.
    private func chain(
        _ size: PixelSize, _ cut: (any RowSource, Int) -> any RowSource
    ) -> (CodedRows, any PhotoSource) {
        var passes = passes[...]
        var first: [any PixelFilter] = []
        if case .pixels(let filters)? = passes.first {
            first = filters.compactMap(\.working)
            passes = passes.dropFirst()
        }
        let light = PixelProgram.Layout(sample: .linear, bands: planes.bands)
        let photo: any PhotoSource
        var rows: any RowSource
        if case .geometry(let geometry)? = passes.first, !Planner.streams(geometry) {
            passes = passes.dropFirst()
            let areas = WarpedAreas(geometry, program(source, first, light, size))
            (photo, rows) = (areas, areas)
        } else {
            let whole = PhotoRows(
                RowFormat(width: size.width, height: size.height, planes: planes.bands),
                program(source, first, planes, size), program(source, first, light, size))
            (photo, rows) = (whole, whole)
        }
        var place = 0
        var last: [any PixelFilter] = []
        for pass in passes {
            if case .pixels(let filters) = pass {
                last = filters.compactMap(\.working)
                continue
            }
            if !last.isEmpty {
                rows = FilteredRows(rows, program(planes, last, planes, rows.format.size))
            }
            last = []
            place += 1
            rows = cut(Self.rows(of: [pass], from: rows), place)
        }
        if shrink != (1, 1) {
            precondition(last.isEmpty, "filters run before the photo is shrunk")
            rows = BlockMeanRows(rows, columns: shrink.columns, rows: shrink.rows)
        }
        return (CodedRows(rows, of: photo, program(planes, last, target, rows.format.size)), photo)
    }

    private func program(
        _ source: PixelProgram.Layout, _ filters: [any PixelFilter],
        _ target: PixelProgram.Layout, _ size: PixelSize
    ) -> PixelProgram {
        PixelProgram(
            source: source, filters: filters, target: target, height: size.height,
            colour: colour, targetColour: targetColour, background: background)
    }
}

extension RowFormat {
    fileprivate var size: PixelSize { PixelSize(width: width, height: height) }
}

/// Rows for libvips.
private final class CodedMaker: RowMaker {
    private let rows: any CodedRowSource
    var reader: RowReader? {
        didSet { rows.reader = reader }
    }

    init(_ rows: any CodedRowSource) { self.rows = rows }

    func makeRow(into row: UnsafeMutableRawPointer) -> Bool { rows.makeRow(into: row) }
}

extension RowReader: PhotoReader {}
