import Adjustments

/// What Core Image's eight photo effects have in common: each is a map of colours.
///
/// Apple's kernels are unpublished tables. Ours are smooth functions fitted to 127 375 colours of one photo of
/// which Core Image's results are public. A function is a sum of cubic B-splines (9 along red, green and
/// blue each) of the encoded values, found by least squares: the photo's colours, weighted by the root
/// of their number of pixels, against first and second differences of the coefficients (weight 0.3 each) from
/// those of a formula with few parameters,
///
///     z = w · v     out = lo + (hi − lo) · zᵖ / (zᵖ + k (1 − z)ᵖ)
///
/// fitted to the same colours, whose curve of greys is kept from 0.18 on (weight 30). So colours that the
/// photo has not, blues and greys above all, are the formula's, and there is no seam. Greys stay grey in the
/// black and white effects, Chrome and Fade; the coefficients rise along the channel's own axis, so that tones
/// never turn round, and black is kept where the effect keeps it. Held-out colours (a quarter of the cells of
/// a sixth of each axis, in turn) tell how well this generalises; each definition says both numbers.
struct PhotoEffect: PixelFilter {
    /// B-splines along an axis, hence 6 pieces.
    private static let splines = 9
    /// Nodes along an axis of the cube that is made of them: 5 steps for each piece.
    private static let nodes = 31
    /// The number that a coefficient's three hexadecimal digits stand for is least + step · digits.
    private static let (least, step): (Float, Float) = (-1.5, 1 / 1023.75)

    private let cube: ColourCube

    /// Makes the effect of its coefficients.
    ///
    /// - Parameters:
    ///   - channels: 1 for black and white, else 3.
    ///   - text: three hexadecimal digits for each coefficient, the channels of a spline side by side, red
    ///     varying fastest.
    init(channels: Int, _ text: StaticString) {
        var numbers: [Float] = []
        text.withUTF8Buffer { bytes in
            var (value, digits) = (0, 0)
            for byte in bytes where byte != UInt8(ascii: "\n") {
                value = value << 4 + Int(byte) - (byte < 0x3A ? 0x30 : 0x57)
                digits += 1
                guard digits.isMultiple(of: 3) else { continue }
                numbers.append(Self.least + Self.step * Float(value))
                value = 0
            }
        }
        let count = Self.splines * Self.splines * Self.splines * channels
        precondition(numbers.count == count, "an effect has \(count) coefficients")
        // One axis after the other: what lies within a step of the axis stays side by side.
        for inner in [channels, channels * Self.nodes, channels * Self.nodes * Self.nodes] {
            numbers = Self.sampled(numbers, inner: inner)
        }
        cube = ColourCube(
            size: Self.nodes, channels: channels, numbers.map { min(max($0, 0), 1) })
    }

    /// Splines along one axis to their values at the nodes.
    private static func sampled(_ numbers: [Float], inner: Int) -> [Float] {
        let rows = numbers.count / (splines * inner)
        var result: [Float] = []
        result.reserveCapacity(rows * nodes * inner)
        for row in 0..<rows {
            for node in 0..<nodes {
                let place = Float(node) * Float(splines - 3) / Float(nodes - 1)
                let first = min(Int(place), splines - 4)
                let weights = cubic(place - Float(first))
                for i in 0..<inner {
                    let start = (row * splines + first) * inner + i
                    var sum: Float = 0
                    for k in 0..<4 { sum += weights[k] * numbers[start + k * inner] }
                    result.append(sum)
                }
            }
        }
        return result
    }

    /// Weights of the four splines that reach a place within a piece.
    private static func cubic(_ u: Float) -> [Float] {
        let (v, square, cube) = (1 - u, u * u, u * u * u)
        return [
            v * v * v / 6, (3 * cube - 6 * square + 4) / 6,
            (-3 * cube + 3 * square + 3 * u + 1) / 6, cube / 6,
        ]
    }

    func apply(to pixels: PixelChunk) {
        pixels.encode()
        let scale = Float(cube.size - 1)
        cube.apply(
            to: pixels, low: [0, 0, 0], scale: [scale, scale, scale], extrapolates: false,
            into: pixels.colours)
        if cube.channels == 1 { pixels.makeGrey() }
        pixels.decode()
    }

    /// The definition of an effect.
    ///
    /// - Parameters:
    ///   - rms: on the photo it was fitted to.
    ///   - heldOut: on its colours that were left out of the fit.
    static func definition(
        _ name: String, _ summary: String, rms: Double, heldOut: Double,
        _ effect: @escaping @Sendable () -> PhotoEffect
    ) -> FilterDefinition {
        FilterDefinition(
            name: name, summary: summary, category: .photoEffect, fidelity: .measured(rms: rms),
            source: """
                Apple's table is unpublished. Ours is a smooth function of colour, fitted to Core Image's pixels of one \
                photo of reds, yellows, greens and darks: RMS \(rms) there, \(heldOut) on its colours that were left \
                out. Blues and middle greys go by a formula; there ours may look different.
                """,
            kernel: .pixel { _, _ in effect() })
    }
}
