import Edits

/// A weighted sum of neighbours and a bias, on linear light multiplied by alpha; alpha is summed too.
///
/// Core Image's weights start at the lower left, because its y points up; ours apply to the same position in the photo. Values are
/// only clamped when the photo is written.
struct Convolution: NeighbourhoodFilter {
    let edge: EdgeMode
    let growth: Extent
    let reach: Extent
    private let weights: [Float]
    private let bias: Float

    /// - Parameters:
    ///   - columns: columns of the matrix of weights; odd.
    ///   - rows: rows of the matrix of weights; odd.
    init(_ filter: Filter, columns: Int, rows: Int) {
        edge = BlurParameters.edge(of: filter)
        reach = Extent(columns: columns / 2, rows: rows / 2)
        growth = edge == .clamp ? .none : reach
        let given = filter.vector("inputWeights")
        weights = (0..<rows).reversed().flatMap { row in
            given[row * columns..<(row + 1) * columns].map(Float.init)
        }
        bias = Float(filter.number("inputBias"))
    }

    /// Creates the definition for a matrix of weights, which is the identity by default.
    static func definition(
        _ name: String, _ neighbours: String, columns: Int, rows: Int
    ) -> FilterDefinition {
        var identity = [Double](repeating: 0, count: columns * rows)
        identity[identity.count / 2] = 1
        return FilterDefinition(
            name: name,
            summary: "Sums each pixel's neighbours in \(neighbours), weighted, and adds a bias.",
            category: .stylise,
            parameters: [
                .init(
                    name: "inputWeights",
                    summary: "Weights of the neighbours, row by row from the lower left.",
                    // Core Image documents no limit; a thousand is ours, far beyond any useful kernel.
                    kind: .samples(
                        -1000...1000, count: identity.count...identity.count, groups: 1),
                    defaultValue: .vector(identity), identity: .vector(identity)),
                .number(
                    "inputBias", "What is added to every channel, alpha too.", default: 0,
                    -1000...1000, identity: 0),
                BlurParameters.edge,
            ],
            fidelity: .exact,
            source:
                "Σ weights · pixels + bias on linear light multiplied by alpha, as Apple documents it.",
            gain: .dropped, light: .unlimited,
            kernel: .neighbourhood { filter, _ in
                Convolution(filter, columns: columns, rows: rows)
            })
    }

    func rows(from source: any RowSource) -> any RowSource {
        let (columns, rows) = (reach.columns, reach.rows)
        return WindowRows(
            source.padded(by: growth), reach: max(columns, rows), edge: edge
        ) { [weights, bias] window, y, out in
            let width = window.format.width
            for plane in 0..<window.format.planes {
                let target = out[plane]
                target.update(repeating: bias, count: width)
                var index = 0
                for row in -rows...rows {
                    let line = window.row(y + row)[plane]
                    for column in -columns...columns {
                        let weight = weights[index]
                        index += 1
                        guard weight != 0 else { continue }
                        let source = line + column
                        for x in 0..<width { target[x] += weight * source[x] }
                    }
                }
            }
        }
    }
}

enum CIConvolution5X5 {
    static let definition = Convolution.definition(
        "CIConvolution5X5", "a square of 5", columns: 5, rows: 5)
}

enum CIConvolution3X3 {
    static let definition = Convolution.definition(
        "CIConvolution3X3", "a square of 3", columns: 3, rows: 3)
}

enum CIConvolution9Horizontal {
    static let definition = Convolution.definition(
        "CIConvolution9Horizontal", "its row", columns: 9, rows: 1)
}

enum CIConvolution9Vertical {
    static let definition = Convolution.definition(
        "CIConvolution9Vertical", "its column", columns: 1, rows: 9)
}
