import Adjustments
import Pixels
import RenderProtocol
import Vips

/// Runs the passes of a plan over one photo: each asks for the pixels of the one before.
struct PassRunner {
    let photo: StandardImage
    let target: PixelProgram.Layout
    /// What the result's codes mean.
    let targetColour: PhotoColour
    /// What transparent parts are laid on when the target has no alpha.
    let background: Recipe.Background
    /// Where pixels go that are needed in any order.
    let spool: SpoolPlace

    private var image: Image
    private var layout: PixelProgram.Layout
    /// What the numbers of ``image`` mean while they are codes.
    private var colour: PhotoColour
    /// Per-pixel filters that the next program takes along.
    private var waiting: [Pass.Pixel] = []

    init(
        _ photo: StandardImage, target: PixelProgram.Layout, targetColour: PhotoColour,
        background: Recipe.Background, spool: SpoolPlace
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

    /// The picture after all passes, computed when it is written.
    ///
    /// - Throws: `VipsError` or `Failure`.
    mutating func run(_ passes: [Pass]) throws -> Image {
        if Self.skipRows(passes) { image = try image.readInSteps() }
        var rest = passes[...]
        while let step = RenderStep.next(of: &rest, isWaiting: !waiting.isEmpty) {
            switch step {
            case .filter(let pixels): waiting = pixels
            case .place(let geometry, let isLast):
                if !waiting.isEmpty {
                    let light = linear(hasAlpha: hasAlpha)
                    try runProgram(to: isLast ? target : light)
                }
                image = try image.placed(geometry, spool: spool)
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

    /// Rows above a part that may be read in one piece.
    private static let skippedRowsMax = 64

    /// Whether a part is cut out whose first row lies further down.
    private static func skipRows(_ passes: [Pass]) -> Bool {
        passes.contains { pass in
            guard case .geometry(let geometry) = pass, case .crop(let part) = geometry.kind else {
                return false
            }
            return geometry.source.height - part.y - part.height > skippedRowsMax
        }
    }

    /// Whether the picture has alpha once the filters that wait have run.
    private var hasAlpha: Bool {
        layout.hasAlpha || waiting.contains(where: \.changesAlpha)
    }

    private func linear(hasAlpha: Bool) -> PixelProgram.Layout {
        PixelProgram.Layout(sample: .linear, bands: hasAlpha ? 4 : 3)
    }

    /// Runs passes over rows, with the filters of single pixels that wait.
    ///
    /// - Parameter shrink: by what the picture is shrunk after them.
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

    /// Notes that no filter waits any more and the picture is of this layout.
    private mutating func finish(as layout: PixelProgram.Layout) {
        waiting = []
        self.layout = layout
        if layout.sample.isEncoded { colour = targetColour }
    }

    /// Keeps the picture where a warp will read it in any order. What is kept is the smaller of codes and light.
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
