import Edits

/// `cube`: a `.cube` file, the common text format for looks.
///
/// First, each channel is mapped by the file's curves, if there are any. Then the colour is looked up in its table, if there is
/// one. Values outside of the input ranges are clamped to them.
struct CubeFilter: PixelFilter {
    static let definition = FilterDefinition(
        name: "cube",
        summary: "Applies the look of a .cube file.",
        category: .lookUpTable,
        parameters: [
            ParameterDefinition(
                name: "file", summary: "The .cube file.", kind: .resource, defaultValue: nil),
            NamedColourSpace.parameter(
                "colorSpace", "What the file's numbers mean; looks for photos are made for sRGB."),
            .number(
                "intensity", "0 leaves the photo as it is, 1 is the whole look.", default: 1, 0...1,
                identity: 0),
        ],
        fidelity: .exact,
        source: """
            Adobe Cube LUT Specification 1.0, with the input ranges and the curves before the table of Resolve's files. \
            Trilinear.
            """,
        kernel: .pixel { filter, context throws(Failure) in try CubeFilter(filter, context) })

    private let file: CubeFile
    private let curves: [SampledCurve]?
    private let cube: ColourCube?
    private let scale: [Float]
    private let space: NamedColourSpace
    private let intensity: Float

    init(_ filter: Filter, _ context: FilterContext) throws(Failure) {
        let digest = filter.text("file")
        let file = try CubeFile(context.resource(digest, CubeFile.bytesMax), named: digest)
        self.file = file
        curves = file.curves.map { curves in
            (0..<3).map { channel in
                SampledCurve(
                    from: Double(curves.low[channel]), to: Double(curves.high[channel]),
                    samples: stride(from: channel, to: curves.numbers.count, by: 3).map {
                        Double(curves.numbers[$0])
                    })
            }
        }
        cube = file.table.map { ColourCube(size: $0.size, channels: 3, $0.numbers) }
        scale =
            file.table.map { table in
                zip(table.low, table.high).map { Float(table.size - 1) / ($1 - $0) }
            } ?? []
        space = NamedColourSpace(filter, "colorSpace")
        intensity = Float(filter.number("intensity"))
    }

    func apply(to pixels: PixelChunk) {
        guard intensity > 0 else { return }
        let (capacity, amount) = (PixelChunk.capacity, intensity)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * capacity) { buffer in
            guard let before = buffer.baseAddress else { return }
            space.enter(pixels)
            for (index, plane) in pixels.colours.enumerated() {
                (before + index * capacity).update(from: plane, count: pixels.count)
            }
            applyTables(pixels)
            for (index, plane) in pixels.colours.enumerated() {
                let old = before + index * capacity
                for i in 0..<pixels.count { plane[i] = old[i] + (plane[i] - old[i]) * amount }
            }
            space.leave(pixels)
        }
    }

    private func applyTables(_ pixels: PixelChunk) {
        if let curves, let ranges = file.curves {
            for (channel, plane) in pixels.colours.enumerated() {
                let (low, high) = (ranges.low[channel], ranges.high[channel])
                for i in 0..<pixels.count { plane[i] = min(max(plane[i], low), high) }
                curves[channel].apply(to: plane, count: pixels.count)
            }
        }
        if let cube, let table = file.table {
            cube.apply(
                to: pixels, low: table.low, scale: scale, extrapolates: false,
                into: pixels.colours)
        }
    }
}
