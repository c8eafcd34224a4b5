import Adjustments
import Vips

extension Image {
    /// With a neighbourhood filter run over it; this image is linear light.
    ///
    /// - Parameter spool: where pixels may go to that do not fit into memory.
    func running(_ filter: Filter, bands: Int, spool: String) throws(VipsError) -> Image {
        switch filter.name {
        case FilterName.edges:
            let edges = Edges(filter)
            return try padded(columns: 1, rows: 1).window(columns: 1, rows: 1) {
                edges.run($0, $1, bands: bands)
            }
        case FilterName.motionBlur:
            let blur = MotionBlur(filter)
            return Planner.isTall(rows: blur.reach.rows, width: width)
                ? try blurredFromSpool(blur, spool: spool) : try blurredStreaming(blur)
        default: preconditionFailure("\(filter.name) does not look at neighbours")
        }
    }

    /// The photo is given a margin once, and each stage takes its share of it off.
    func blurredStreaming(_ blur: MotionBlur) throws(VipsError) -> Image {
        guard !blur.stages.isEmpty else { return self }
        let bands = bands
        var image = try padded(columns: blur.reach.columns, rows: blur.reach.rows)
        for kernel in blur.stages {
            image = try image.window(columns: kernel.columns, rows: kernel.rows) {
                kernel.run($0, $1, bands: bands)
            }
        }
        return image
    }

    /// Each stage reads the whole result of the one before, and makes the margin that is still
    /// needed after it.
    func blurredFromSpool(_ blur: MotionBlur, spool: String) throws(VipsError) -> Image {
        let bands = bands
        var image = self
        var margin = (columns: 0, rows: 0)
        var rest = blur.reach
        for (stage, kernel) in blur.stages.enumerated() {
            rest = (rest.columns - kernel.columns, rest.rows - kernel.rows)
            let whole = try image.inAnyOrder(spool: "\(spool)-\(stage)")
            let shift = (column: margin.columns - rest.columns, row: margin.rows - rest.rows)
            let picture = linearPicture(
                width: width + 2 * rest.columns, height: height + 2 * rest.rows)
            image = try whole.computingFromWhole(picture) {
                kernel.run($0, $1, bands: bands, shift: shift)
            }
            margin = rest
        }
        return image
    }

    /// Lines that are computed at a time where a window runs over them.
    private static let cachedLines = 16

    private func linearPicture(width: Int, height: Int) -> RegionPicture {
        RegionPicture(
            width: width, height: height, bands: bands, format: .float, interpretation: "scrgb")
    }

    /// Computed from rectangles that are larger on each side; smaller by as much.
    private func window(
        columns: Int, rows: Int,
        _ compute: @escaping @Sendable (RegionPixels, RegionPixels) -> Void
    ) throws(VipsError) -> Image {
        try lineCached(lines: Self.cachedLines).computing(
            linearPicture(width: width - 2 * columns, height: height - 2 * rows),
            margins: (2 * columns, 2 * rows), compute)
    }
}
