import Adjustments
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
        while let pass = rest.popFirst() {
            switch pass {
            case .pixels(let pixels): waiting = pixels
            case .neighbourhood:
                let rows = rest.prefix { !$0.isGeometry }
                rest = rest.dropFirst(rows.count)
                try runRows([pass] + rows, isLast: rest.allSatisfy(\.isLossless))
            case .geometry(let geometry) where geometry.isLossless:
                if !waiting.isEmpty {
                    let light = linear(hasAlpha: hasAlpha)
                    try runProgram(to: rest.allSatisfy(\.isLossless) ? target : light)
                }
                image = try image.placed(geometry, spool: spool)
            case .geometry(let geometry): try resample(geometry)
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
        layout.hasAlpha || waiting.contains(where: \.working.changesAlpha)
    }

    private func linear(hasAlpha: Bool) -> PixelProgram.Layout {
        PixelProgram.Layout(sample: .linear, bands: hasAlpha ? 4 : 3)
    }

    /// Runs filters that look at neighbours, with those of single pixels before, between and after them.
    private mutating func runRows(_ passes: [Pass], isLast: Bool) throws(VipsError) {
        let passes = (waiting.isEmpty ? [] : [.pixels(waiting)]) + passes
        let wanted =
            isLast ? target : linear(hasAlpha: layout.hasAlpha || RowPlan.makeAlpha(passes))
        image = try RowPlan(
            passes: passes, source: layout, target: wanted, colour: colour,
            targetColour: targetColour, background: background
        ).run(over: image)
        finish(as: wanted)
    }

    /// Notes that no filter waits any more and the picture is of this layout.
    private mutating func finish(as layout: PixelProgram.Layout) {
        waiting = []
        self.layout = layout
        if layout.sample.isEncoded { colour = targetColour }
    }

    private mutating func resample(_ geometry: Geometry) throws {
        let light = linear(hasAlpha: hasAlpha || !geometry.edges.isEmpty)
        guard geometry.kind == .warp else {
            try runProgram(to: light)
            image = try image.scaled(geometry)
            return
        }
        // What is kept for tiles that ask for it in any order is the smaller of codes and light.
        let shrink = geometry.shrink
        if shrink == (1, 1) {
            try makeReadable(for: geometry)
            try runProgram(to: light)
        } else {
            try runProgram(to: light)
            image = try image.shrunk(columns: shrink.columns, rows: shrink.rows)
            try makeReadable(for: geometry)
        }
        image = try image.warped(geometry, shrink: shrink)
    }

    private mutating func makeReadable(for geometry: Geometry) throws {
        if Planner.streams(geometry), let rows = geometry.streamingRows {
            image = try image.lineCached(lines: rows + Self.slackRows)
        } else {
            image = try image.inAnyOrder(for: .squares, spool)
        }
    }

    /// Rows kept beyond a strip's window: what the kernel looks at, and what is rounded.
    private static let slackRows = 32

    private mutating func runProgram(to wanted: PixelProgram.Layout) throws(VipsError) {
        let isSame = wanted.sample == .linear || colour == targetColour
        guard layout != wanted || !waiting.isEmpty || !isSame else { return }
        image = try image.running(
            PixelProgram(
                source: layout, filters: waiting.map(\.working), target: wanted,
                height: image.height, colour: colour, targetColour: targetColour,
                background: background, chain: waiting.map(\.filter)))
        finish(as: wanted)
    }
}
