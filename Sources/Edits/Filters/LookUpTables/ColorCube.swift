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

/// A resource of little-endian 32-bit floats.
enum FloatFile {
    /// Returns the most bytes of a resource that are read. A slightly too long resource is still read, so that the error can state
    /// its length.
    static func bytesMax(of count: Int) -> Int { max(4 * count, 1 << 20) }

    /// Reads the numbers of a file.
    ///
    /// - Throws: `badResource` if it has another number of them, or one is not finite.
    static func read(
        _ bytes: [UInt8], named name: String, count: Int, for filter: String
    ) throws(Failure) -> [Float] {
        guard bytes.count == 4 * count else {
            throw Failure(
                .badResource,
                "\(name) has \(bytes.count) bytes; \(filter) expects \(count) floats, which are "
                    + "\(4 * count) bytes.")
        }
        let numbers = bytes.withUnsafeBytes { buffer in
            (0..<count).map { index in
                Float(
                    bitPattern: UInt32(
                        littleEndian: buffer.loadUnaligned(
                            fromByteOffset: 4 * index, as: UInt32.self)))
            }
        }
        if let index = numbers.firstIndex(where: { !$0.isFinite }) {
            throw Failure(
                .badResource, "\(name): float \(index) is \(numbers[index]); expected a finite one."
            )
        }
        return numbers
    }
}

/// CIColorCubeWithColorSpace: looks up each colour, in the values of a given colour space, in a table.
enum CIColorCubeWithColorSpace {
    static let definition = FilterDefinition(
        name: "CIColorCubeWithColorSpace",
        summary: "Looks up the colours of a colour space in a table.",
        category: .lookUpTable,
        parameters: [
            ColorCubeTable.dimension, ColorCubeTable.data,
            NamedColourSpace.parameter("inputColorSpace", "What the table's numbers mean."),
            ColorCubeTable.extrapolate,
        ],
        fidelity: .measured(rms: 0.18),
        source: "Trilinear, on values of the colour space; documented by Apple.",
        light: .unlimited(when: { $0.flag("inputExtrapolate") }),
        kernel: .pixel { filter, context throws(Failure) in
            try ColorCubeTable(filter, in: NamedColourSpace(filter, "inputColorSpace"), context)
        })
}

/// CIColorCube: looks up each colour, in linear light, in a table.
enum CIColorCube {
    static let definition = FilterDefinition(
        name: "CIColorCube",
        summary: "Looks up linear colours in a table.",
        category: .lookUpTable,
        parameters: [ColorCubeTable.dimension, ColorCubeTable.data, ColorCubeTable.extrapolate],
        fidelity: .measured(rms: 0.22),
        source: """
            Trilinear, on linear light; documented by Apple. For `.cube` files, whose values are encoded, see cube.
            """,
        light: .unlimited(when: { $0.flag("inputExtrapolate") }),
        kernel: .pixel { filter, context throws(Failure) in
            try ColorCubeTable(filter, in: .linearSRGB, context)
        })
}

/// A colour table by red, green and blue with trilinear interpolation.
///
/// Between the eight nodes around a colour, each channel is interpolated linearly, red first, as in Core Image. (Tetrahedral
/// interpolation differs by up to a few codes.)
struct ColourCube: Sendable {
    /// Nodes along an axis, at least 2.
    let size: Int
    /// Numbers of a node: red, green, blue and optionally alpha.
    let channels: Int
    /// The numbers. Red varies fastest, then green.
    private let table: Table<Float>

    init(size: Int, channels: Int, _ numbers: [Float]) {
        precondition(numbers.count == size * size * size * channels, "a number for each node")
        self.size = size
        self.channels = channels
        table = Table(count: numbers.count) { numbers[$0] }
    }

    /// Looks up the colours of a chunk.
    ///
    /// - Parameters:
    ///   - low: the colour of the first node.
    ///   - scale: the factor from a colour's distance from `low` to steps between nodes.
    ///   - extrapolates: whether colours outside of the cube are extrapolated linearly; otherwise the outermost node is used.
    ///   - results: the four channels' planes; the last one is not written if there are only three.
    func apply(
        to pixels: PixelChunk, low: [Float], scale: [Float], extrapolates: Bool,
        into results: [UnsafeMutablePointer<Float>]
    ) {
        let values = table.values
        let last = Float(size - 1)
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        // Strides of the table along each axis.
        let (right, up, back) = (channels, channels * size, channels * size * size)
        func position(_ number: Float, _ axis: Int) -> (node: Int, part: Float) {
            let position = (number - low[axis]) * scale[axis]
            let bounded = extrapolates ? position : min(max(position, 0), last)
            let node = min(max(bounded.rounded(.down), 0), last - 1)
            return (Int(node), bounded - node)
        }
        for i in 0..<pixels.count {
            let (r, g, b) = (position(red[i], 0), position(green[i], 1), position(blue[i], 2))
            let corner = values + r.node * right + g.node * up + b.node * back
            for channel in 0..<channels {
                let c = corner + channel
                let c00 = c[0] + (c[right] - c[0]) * r.part
                let c10 = c[up] + (c[up + right] - c[up]) * r.part
                let c01 = c[back] + (c[back + right] - c[back]) * r.part
                let c11 = c[back + up] + (c[back + up + right] - c[back + up]) * r.part
                let c0 = c00 + (c10 - c00) * g.part
                let c1 = c01 + (c11 - c01) * g.part
                results[channel][i] = c0 + (c1 - c0) * b.part
            }
        }
    }
}
