import Adjustments
import Vips

/// Passes over a photo of which at least one looks at neighbours, as one run from top to bottom.
///
/// Rows of the photo become planes of linear light, go from filter to filter, each of which keeps the
/// rows that it needs, and become codes again. There are no pictures in between.
struct RowPlan {
    let passes: [Pass]
    let source: PixelProgram.Layout
    let target: PixelProgram.Layout
    let colour, targetColour: PhotoColour
    let background: Recipe.Background

    /// Whether passes make a photo transparent in part, whatever it was.
    static func makeAlpha(_ passes: [Pass]) -> Bool {
        passes.contains {
            if case .neighbourhood(_, let filter) = $0 {
                filter.edge == .transparent
            } else {
                $0.changesAlpha
            }
        }
    }

    /// Planes of linear light that the filters see.
    private var planes: PixelProgram.Layout {
        .init(sample: .planes, bands: source.hasAlpha || Self.makeAlpha(passes) ? 4 : 3)
    }

    /// The photo with the passes run over it.
    func run(over photo: Image) throws(VipsError) -> Image {
        let full = RowFormat(width: photo.width, height: photo.height, planes: planes.bands)
        let maker = maker(full)
        let grown = maker.source.format
        return try photo.computingRows(
            target.picture(width: grown.width, height: grown.height), maker)
    }

    private func maker(_ full: RowFormat) -> sending CodedRows {
        var passes = passes[...]
        var first: [any PixelFilter] = []
        if case .pixels(let filters) = passes.first {
            first = filters.map(\.working)
            passes = passes.dropFirst()
        }
        let photo = PhotoRows(
            full,
            PixelProgram(
                source: source, filters: first, target: planes, height: full.height,
                colour: colour))
        var rows: any RowSource = photo
        var last: [any PixelFilter] = []
        for pass in passes {
            switch pass {
            case .pixels(let filters): last = filters.map(\.working)
            case .neighbourhood(_, let filter):
                if !last.isEmpty { rows = FilteredRows(rows, program(planes, last, rows)) }
                last = []
                rows = filter.rows(from: rows)
            case .geometry: preconditionFailure("a geometry is no pass over rows")
            }
        }
        return CodedRows(rows, of: photo, program(target, last, rows))
    }

    private func program(
        _ target: PixelProgram.Layout, _ filters: [any PixelFilter], _ rows: any RowSource
    ) -> PixelProgram {
        PixelProgram(
            source: planes, filters: filters, target: target, height: rows.format.height,
            colour: colour, targetColour: targetColour, background: background)
    }
}

/// The photo's rows in planes.
private final class PhotoRows: RowSource {
    let format: RowFormat
    private let program: PixelProgram
    /// What reads the photo while rows are made.
    var reader: RowReader? {
        didSet { strip = nil }
    }
    /// Whether a row could not be read.
    private(set) var hasFailed = false
    private var strip: RegionPixels?
    private var y = 0

    /// Rows that are asked for together.
    private static let stripHeight = 16

    init(_ format: RowFormat, _ program: PixelProgram) {
        self.format = format
        self.program = program
    }

    func next(into row: PlanarRow) {
        defer { y += 1 }
        if strip.map({ y >= $0.area.top + $0.area.height }) ?? true {
            let height = min(Self.stripHeight, format.height - y)
            strip = hasFailed ? nil : reader?.rows(from: y, count: height)
        }
        guard let strip else {
            hasFailed = true
            return
        }
        program.run(
            strip.row(y - strip.area.top), row: y, width: format.width, into: row.start,
            stride: row.stride)
    }
}

/// Rows with filters of single pixels run over them.
private final class FilteredRows: RowSource {
    private let source: any RowSource
    private let program: PixelProgram
    private var y = 0
    var format: RowFormat { source.format }

    init(_ source: any RowSource, _ program: PixelProgram) {
        self.source = source
        self.program = program
    }

    func next(into row: PlanarRow) {
        source.next(into: row)
        program.run(
            row.start, row: y, width: format.width, into: row.start, stride: row.stride)
        y += 1
    }
}

/// Rows as the result has them.
private final class CodedRows: RowMaker {
    let source: any RowSource
    private let photo: PhotoRows
    private let program: PixelProgram
    private let memory: UnsafeMutablePointer<Float>
    private let stride: Int
    private var y = 0

    init(_ source: any RowSource, of photo: PhotoRows, _ program: PixelProgram) {
        self.source = source
        self.photo = photo
        self.program = program
        stride = (source.format.width + RowFormat.block + 15) & ~15
        memory = .allocate(capacity: stride * source.format.planes)
        memory.initialize(repeating: 0, count: stride * source.format.planes)
    }

    deinit { memory.deallocate() }

    var reader: RowReader? {
        get { photo.reader }
        set { photo.reader = newValue }
    }

    func makeRow(into row: UnsafeMutableRawPointer) -> Bool {
        source.next(into: PlanarRow(start: memory, stride: stride))
        program.run(memory, row: y, width: source.format.width, into: row, stride: stride)
        y += 1
        return !photo.hasFailed
    }
}
