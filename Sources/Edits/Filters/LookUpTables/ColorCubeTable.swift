import Edits

/// The table of Core Image's cube filters: colours multiplied by alpha, for colours from 0 to 1.
struct ColorCubeTable: PixelFilter {
    private let cube: ColourCube
    private let space: NamedColourSpace
    private let extrapolates: Bool
    let changesAlpha: Bool

    static let dimension = ParameterDefinition.number(
        "inputCubeDimension", "Nodes along red, green and blue each; a whole number.",
        default: 2, 2...128, .count)

    /// The corners of the cube: the identity table.
    private static let identity: [Double] = [
        0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1,
        0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1,
    ]
    private static let numbersMax: Int = 4 * 128 * 128 * 128

    /// Inline, the largest edit holds about 13³ nodes; a file holds 128³, Core Image's maximum.
    static let data = ParameterDefinition(
        name: "inputCubeData",
        summary: """
            Red, green, blue and alpha of each node, red varying fastest, colours multiplied by alpha; or a file of \
            them as little-endian 32-bit floats, as Core Image takes them.
            """,
        kind: .table(-100...100, count: 32...numbersMax, groups: 4),
        defaultValue: .vector(identity))

    static let extrapolate = ParameterDefinition(
        name: "inputExtrapolate",
        summary: "Whether colours beyond 0 to 1 are extrapolated linearly, or are cut off.",
        kind: .flag, defaultValue: false)

    init(_ filter: Filter, in space: NamedColourSpace, _ context: FilterContext)
        throws(Failure)
    {
        let dimension = filter.number("inputCubeDimension")
        guard dimension == dimension.rounded() else {
            throw Failure(
                .invalidValue,
                "\(filter.name)'s inputCubeDimension is \(dimension); expected a whole number.")
        }
        let size = Int(dimension)
        let count = 4 * size * size * size
        let numbers: [Float]
        switch filter.table("inputCubeData") {
        case .inline(let values):
            guard values.count == count else {
                throw Failure(
                    .invalidValue,
                    "\(filter.name)'s inputCubeData has \(values.count) numbers; expected \(count), "
                        + "four for each of \(size)³ nodes.")
            }
            numbers = values.map(Float.init)
        case .file(let digest):
            let bytes = try context.resource(digest, FloatFile.bytesMax(of: count))
            numbers = try FloatFile.read(bytes, named: digest, count: count, for: filter.name)
        }
        cube = ColourCube(size: size, channels: 4, numbers)
        changesAlpha = stride(from: 3, to: count, by: 4).contains { numbers[$0] != 1 }
        self.space = space
        extrapolates = filter.flag("inputExtrapolate")
    }

    func apply(to pixels: PixelChunk) {
        space.enter(pixels)
        let scale = Float(cube.size - 1)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: PixelChunk.capacity) { plane in
            guard let alpha = plane.baseAddress else { return }
            cube.apply(
                to: pixels, low: [0, 0, 0], scale: [scale, scale, scale],
                extrapolates: extrapolates, into: pixels.colours + [alpha])
            for i in 0..<pixels.count {
                let share = min(max(alpha[i], 0), 1)
                // Less than half a code of 16-bit alpha counts as transparent.
                let factor = share > 1e-6 ? 1 / share : 0
                pixels.red[i] *= factor
                pixels.green[i] *= factor
                pixels.blue[i] *= factor
                pixels.alpha[i] *= share
            }
        }
        space.leave(pixels)
    }
}
