import Edits

/// The common part of Core Image's eight photo effects: each is a map of colours.
///
/// Apple's kernels are unpublished tables. Ours are smooth functions, fitted to the 127 375 colours of one photo for which Core
/// Image's results are public: sums of cubic B-splines of the encoded values, 9 along red, green and blue each, by least squares.
/// The squared terms are:
///
/// - the photo's colours, each with the root of its number of pixels as weight, 10⁵ in total;
/// - first and second differences of the coefficients, minus those of a formula (0.1 and 0.3), and the coefficients minus the
///   formula's (0.01). The formula, fitted to the same colours, is `z = w · v`, `lo + (hi − lo) zᵖ / (zᵖ + k (1 − z)ᵖ)` for each
///   channel, with a single p and k for all three channels of Chrome and Fade, so that their greys stay grey;
/// - greys from 0.18 on (30) and white (10⁴), minus those of the formula; for Chrome and Fade greys from 0.04 on (300); black (10⁵)
///   if the effect keeps it.
///
/// So colours that are missing in the photo, above all blues and middle greys, follow the formula, without a seam: on the way from
/// black to any colour, the luminance never falls by half a code. The condition that each channel rises along its own axis was
/// tried and rejected: it doubled the error on held-out colours (a quarter of the cells of a sixth of each axis, in turn), because
/// Noir does darken blue.
struct PhotoEffect: PixelFilter {
    /// B-splines along an axis, hence 6 pieces.
    private static let splines = 9
    /// Nodes along an axis of the cube that is computed from them: 5 steps for each piece.
    private static let nodes = 31
    /// A coefficient is least + step · the value of its three hexadecimal digits.
    private static let (least, step): (Float, Float) = (-1.5, 1 / 1023.75)

    private let cube: ColourCube

    /// Creates the effect from its coefficients.
    ///
    /// - Parameters:
    ///   - channels: 1 for black and white, otherwise 3.
    ///   - text: three hexadecimal digits for each coefficient, the channels of a spline adjacent, red varying fastest.
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
        // One axis after the other: numbers within a step of the axis stay adjacent.
        for inner in [channels, channels * Self.nodes, channels * Self.nodes * Self.nodes] {
            numbers = Self.sampled(numbers, inner: inner)
        }
        cube = ColourCube(
            size: Self.nodes, channels: channels, numbers.map { min(max($0, 0), 1) })
    }

    /// Evaluates splines along one axis at the nodes.
    private static func sampled(_ numbers: [Float], inner: Int) -> [Float] {
        let rows = numbers.count / (splines * inner)
        var result: [Float] = []
        result.reserveCapacity(rows * nodes * inner)
        for row in 0..<rows {
            for node in 0..<nodes {
                let position = Float(node) * Float(splines - 3) / Float(nodes - 1)
                let first = min(Int(position), splines - 4)
                let weights = cubic(position - Float(first))
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

    /// Returns the weights of the four splines that cover a position within a piece.
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

    /// Returns the definition of an effect.
    ///
    /// - Parameters:
    ///   - rms: the error on the photo of the fit.
    ///   - heldOut: the error on its colours that were held out of the fit.
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
