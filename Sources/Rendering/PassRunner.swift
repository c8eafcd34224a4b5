import Codecs
import Edits
import Filters
import RenderProtocol

/// Runs the passes of a plan over one photo. Each pass requests its pixels from the previous one.
struct PassRunner {
    let photo: StandardImage
    let target: PixelProgram.Layout
    /// The meaning of the result's codes.
    let targetColour: PhotoColour
    /// The background under transparent parts if the target has no alpha.
    let background: Recipe.Background
    /// The storage for pixels that are needed in any order.
    let spool: SpoolStorage

    private var image: Image
    private var layout: PixelProgram.Layout
    /// The meaning of the codes of ``image``, as long as they are codes.
    private var colour: PhotoColour

    init(
        _ photo: StandardImage, target: PixelProgram.Layout, targetColour: PhotoColour,
        background: Recipe.Background, spool: SpoolStorage
    ) {
        self.photo = photo
        self.target = target
        self.targetColour = targetColour
        self.background = background
        self.spool = spool
        image = photo.image
        layout = photo.layout
        colour = photo.colour
    }

    /// Returns the picture after all passes, computed while it is written.
    ///
    /// - Throws: `VipsError` or `Failure`.
    mutating func run(_ passes: [Pass]) throws -> Image {
        if Self.skipRows(passes) { image = try image.readInSteps() }
        for step in PassStep.steps(of: passes) {
            var filters = step.filters
            switch step.action {
            case .move(let geometry):
                if !filters.isEmpty {
                    let hasAlpha = layout.hasAlpha || filters.contains(where: \.changesAlpha)
                    try runProgram(filters, to: step.isLast ? target : linear(hasAlpha: hasAlpha))
                }
                image = try image.moved(geometry, spool: spool)
            case .rows(let passes):
                // A warp reads the picture in any order, as codes or light, whichever is smaller.
                if case .geometry(let geometry)? = passes.first, !Planner.streams(geometry) {
                    if geometry.shrink != (1, 1) {
                        try runRows([.pixels(filters)], isLast: false, shrink: geometry.shrink)
                        filters = []
                    }
                    image = try image.inAnyOrder(for: .squares, spool)
                }
                let first = filters.isEmpty ? [] : [Pass.pixels(filters)]
                try runRows(first + passes, isLast: step.isLast)
            case .codes: try runProgram(filters, to: target)
            }
        }
        return image
    }

    /// Rows above a crop that may be read at once.
    private static let skippedRowsMax = 64

    /// Whether a part whose first row lies further down is cropped.
    private static func skipRows(_ passes: [Pass]) -> Bool {
        passes.contains { pass in
            guard case .geometry(let geometry) = pass, case .crop(let part) = geometry.kind else {
                return false
            }
            return geometry.source.height - part.y - part.height > skippedRowsMax
        }
    }

    private func linear(hasAlpha: Bool) -> PixelProgram.Layout {
        PixelProgram.Layout(sample: .linear, bands: hasAlpha ? 4 : 3)
    }

    /// - Parameter shrink: the factor by which the picture is shrunk after them.
    private mutating func runRows(
        _ passes: [Pass], isLast: Bool, shrink: (columns: Int, rows: Int) = (1, 1)
    ) throws(VipsError) {
        let wanted =
            isLast ? target : linear(hasAlpha: layout.hasAlpha || RowPlan.makeAlpha(passes))
        image = try RowPlan(
            passes: passes, shrink: shrink, source: layout, target: wanted, colour: colour,
            targetColour: targetColour, background: background, threads: VipsLibrary.threads
        ).run(over: image)
        finish(as: wanted)
    }

    private mutating func finish(as layout: PixelProgram.Layout) {
        self.layout = layout
        if layout.sample.isEncoded { colour = targetColour }
    }

    private mutating func runProgram(
        _ filters: [Pass.Pixel], to wanted: PixelProgram.Layout
    ) throws(VipsError) {
        let isSame = !wanted.sample.isEncoded || colour == targetColour
        guard layout != wanted || !filters.isEmpty || !isSame else { return }
        image = try image.running(
            PixelProgram(
                source: layout, filters: filters.compactMap(\.working), target: wanted,
                height: image.height, colour: colour, targetColour: targetColour,
                background: background, chain: filters.flatMap(\.filters)))
        finish(as: wanted)
    }
}

/// A run of passes over a photo from top to bottom, at least one of which makes rows from rows.
///
/// Rows of the photo become planes of linear light, go from pass to pass, and become codes again. Each pass keeps only the rows
/// that it needs. There are no pictures in between.
struct RowPlan {
    /// A first geometry that does not stream reads the photo in any order.
    let passes: [Pass]
    /// The factors by which the photo is shrunk after the passes.
    var shrink = (columns: 1, rows: 1)
    let source: PixelProgram.Layout
    let target: PixelProgram.Layout
    let colour, targetColour: PhotoColour
    let background: Recipe.Background
    var threads = 1

    /// Whether a pass can be part of such a run, at any position.
    static func supports(_ pass: Pass) -> Bool {
        guard case .geometry(let geometry) = pass else { return true }
        if case .turn = geometry.kind { return false }
        return Planner.streams(geometry)
    }

    /// Whether passes make any photo partly transparent.
    static func makeAlpha(_ passes: [Pass]) -> Bool {
        passes.contains {
            switch $0 {
            case .pixels: $0.changesAlpha
            case .neighbourhood(_, let filter): filter.edge == .transparent
            case .geometry(let geometry): !geometry.edges.isEmpty
            }
        }
    }

    /// Returns the rows that passes make, without the per-pixel filters.
    static func rows(of passes: [Pass], from source: any RowSource) -> any RowSource {
        passes.reduce(source) { rows, pass in
            switch pass {
            case .pixels: rows
            case .neighbourhood(_, let filter): filter.rows(from: rows)
            case .geometry(let geometry): geometry.rows(from: rows)
            }
        }
    }

    /// The planes of linear light that the passes read.
    private var planes: PixelProgram.Layout {
        .init(sample: .planes, bands: source.hasAlpha || Self.makeAlpha(passes) ? 4 : 3)
    }

    func run(over photo: Image) throws(VipsError) -> Image {
        let (rows, result) = rows(PixelSize(width: photo.width, height: photo.height))
        return try photo.computingRows(
            target.picture(width: result.width, height: result.height), CodedMaker(rows))
    }

    /// Returns the rows of the result, computed by as many threads as the chain has stages.
    func rows(_ size: PixelSize) -> sending (any CodedRowSource, RowFormat) {
        let cuts = StageCuts(of: passes, threads: threads)
        guard let cuts, let stages = RowStages(parts: cuts.positions.count + 1) else {
            let (rows, _) = chain(size) { rows, _ in rows }
            return (rows, rows.format)
        }
        let reader = stages.read(
            width: size.width, height: size.height, rowBytes: size.width * source.pixelBytes)
        let (rows, photo) = chain(size) { rows, position in
            cuts.positions.contains(position) ? stages.cut(rows) : rows
        }
        photo.reader = reader
        stages.finish(rows, rowBytes: rows.format.width * target.pixelBytes)
        return (stages, rows.format)
    }

    /// Builds the chain from the photo to codes.
    ///
    /// - Parameter cut: receives the rows of each pass, except per-pixel filters, and its number, from 1; returns the rows with
    ///   which the chain continues.
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
        var position = 0
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
            position += 1
            rows = cut(Self.rows(of: [pass], from: rows), position)
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

/// A source of rows for libvips.
private final class CodedMaker: RowMaker {
    private let rows: any CodedRowSource
    var reader: RowReader? {
        didSet { rows.reader = reader }
    }

    init(_ rows: any CodedRowSource) { self.rows = rows }

    func makeRow(into row: UnsafeMutableRawPointer) -> Bool { rows.makeRow(into: row) }
}

extension RowReader: PhotoReader {}
