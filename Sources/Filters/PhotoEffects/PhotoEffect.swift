import Adjustments

/// What Core Image's eight photo effects have in common: each is a map of colours.
///
/// Apple's kernels are unpublished tables. Ours are smooth functions, fitted to the 127 375 colours of one photo
/// of which Core Image's results are public: sums of cubic B-splines of the encoded values, 9 along red,
/// green and blue each, by least squares. What the squares are of:
///
/// - the photo's colours, each with the root of its number of pixels, 10⁵ together;
/// - first and second differences of the coefficients, less those of a formula (0.1 and 0.3), and the
///   coefficients less its own (0.01). The formula, fitted to the same colours, is
///   `z = w · v`, `lo + (hi − lo) zᵖ / (zᵖ + k (1 − z)ᵖ)` for each channel; one p and k for all three of
///   Chrome and Fade, whose greys so stay grey;
/// - greys from 0.18 on (30) and white (10⁴), less those of the formula; for Chrome and Fade greys from 0.04 on
///   (300); black (10⁵) where the effect keeps it.
///
/// So colours that the photo has not, blues and middle greys above all, are the formula's, and there is no
/// seam: on the way from black to any colour no luminance falls by half a code. That each channel rises
/// along its own axis was tried as a condition and rejected: it doubled the error on colours that were left out
/// (a quarter of the cells of a sixth of each axis, in turn), for Noir does darken blue.
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
