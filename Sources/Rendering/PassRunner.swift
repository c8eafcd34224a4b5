import Edits
import RenderProtocol
import Codecs

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
    /// Per-pixel filters that the next program applies.
    private var waiting: [Pass.Pixel] = []

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
        var rest = passes[...]
        while let step = PassStep.next(of: &rest, isWaiting: !waiting.isEmpty) {
            switch step {
            case .filter(let pixels): waiting = pixels
            case .move(let geometry, let isLast):
                if !waiting.isEmpty {
                    let light = linear(hasAlpha: hasAlpha)
                    try runProgram(to: isLast ? target : light)
                }
                image = try image.moved(geometry, spool: spool)
            case .rows(let passes, let isLast):
                if case .geometry(let geometry)? = passes.first {
                    try makeReadable(for: geometry)
                }
                try runRows(passes, isLast: isLast)
            }
        }
        try runProgram(to: target)
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

    /// Whether the picture has alpha after the pending filters.
    private var hasAlpha: Bool {
        layout.hasAlpha || waiting.contains(where: \.changesAlpha)
    }

    private func linear(hasAlpha: Bool) -> PixelProgram.Layout {
        PixelProgram.Layout(sample: .linear, bands: hasAlpha ? 4 : 3)
    }

    /// Runs passes over rows, preceded by the pending per-pixel filters.
    ///
    /// - Parameter shrink: the factor by which the picture is shrunk after them.
    private mutating func runRows(
        _ passes: [Pass], isLast: Bool, shrink: (columns: Int, rows: Int) = (1, 1)
    ) throws(VipsError) {
        let passes = (waiting.isEmpty ? [] : [.pixels(waiting)]) + passes
        let wanted =
            isLast ? target : linear(hasAlpha: layout.hasAlpha || RowPlan.makeAlpha(passes))
        image = try RowPlan(
            passes: passes, shrink: shrink, source: layout, target: wanted, colour: colour,
            targetColour: targetColour, background: background, threads: VipsLibrary.threads
        ).run(over: image)
        finish(as: wanted)
    }

    /// Records that no filter is pending and that the picture has this layout.
    private mutating func finish(as layout: PixelProgram.Layout) {
        waiting = []
        self.layout = layout
        if layout.sample.isEncoded { colour = targetColour }
    }

    /// Keeps the picture if a warp will read it in any order, as codes or light, whichever is smaller.
    private mutating func makeReadable(for geometry: Geometry) throws {
        guard !Planner.streams(geometry) else { return }
        if geometry.shrink != (1, 1) {
            let filters = waiting
            waiting = []
            try runRows([.pixels(filters)], isLast: false, shrink: geometry.shrink)
        }
        image = try image.inAnyOrder(for: .squares, spool)
    }

    private mutating func runProgram(to wanted: PixelProgram.Layout) throws(VipsError) {
        let isSame = wanted.sample == .linear || colour == targetColour
        guard layout != wanted || !waiting.isEmpty || !isSame else { return }
        image = try image.running(
            PixelProgram(
                source: layout, filters: waiting.compactMap(\.working), target: wanted,
                height: image.height, colour: colour, targetColour: targetColour,
                background: background, chain: waiting.flatMap(\.filters)))
        finish(as: wanted)
    }
}
