import Adjustments
import Vips

extension Image {
    /// With a neighbourhood filter run over it; this image is linear light.
    ///
    /// - Parameter spool: where pixels may go to that do not fit into memory.
    func running(_ filter: any NeighbourhoodFilter, spool: String) throws(VipsError) -> Image {
        Planner.isTall(rows: filter.reach.rows, width: width)
            ? try runningFromSpool(filter, spool: spool) : try runningStreaming(filter)
    }

    /// The photo is given a margin once, and each stage takes its share of it off.
    func runningStreaming(_ filter: any NeighbourhoodFilter) throws(VipsError) -> Image {
        guard !filter.stages.isEmpty else { return self }
        let bands = bands
        var image = try padded(columns: filter.reach.columns, rows: filter.reach.rows)
        for stage in filter.stages {
            image = try image.window(columns: stage.columns, rows: stage.rows) {
                stage.run(SampleRectangle($0), SampleRectangle($1), bands: bands)
            }
        }
        return image
    }

    /// Each stage reads the whole result of the one before, and makes the margin that is still
    /// needed after it.
    func runningFromSpool(_ filter: any NeighbourhoodFilter, spool: String) throws(VipsError)
        -> Image
    {
        let bands = bands
        var image = self
        var margin = (columns: 0, rows: 0)
        var rest = filter.reach
        for (number, stage) in filter.stages.enumerated() {
            rest = (rest.columns - stage.columns, rest.rows - stage.rows)
            let whole = try image.inAnyOrder(spool: "\(spool)-\(number)")
            let shift = (column: margin.columns - rest.columns, row: margin.rows - rest.rows)
            let picture = linearPicture(
                width: width + 2 * rest.columns, height: height + 2 * rest.rows)
            image = try whole.computingFromWhole(picture) {
                stage.run(
                    whole: SampleRectangle($0), SampleRectangle($1), bands: bands, shift: shift)
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

extension SampleRectangle {
    /// Pixels of libvips whose samples are Floats.
    init(_ pixels: RegionPixels) {
        self.init(
            left: pixels.area.left, top: pixels.area.top, width: pixels.area.width,
            height: pixels.area.height, start: pixels.start.assumingMemoryBound(to: Float.self),
            stride: pixels.stride / MemoryLayout<Float>.stride)
    }

    /// A whole picture of libvips whose samples are Floats; only to be read.
    init(_ pixels: WholePixels) {
        self.init(
            left: 0, top: 0, width: pixels.width, height: pixels.height,
            start: UnsafeMutableRawPointer(mutating: pixels.start)
                .assumingMemoryBound(to: Float.self),
            stride: pixels.stride / MemoryLayout<Float>.stride)
    }
}
