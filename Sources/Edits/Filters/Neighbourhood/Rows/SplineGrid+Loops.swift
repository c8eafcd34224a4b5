// The inner loops of enlarging, over raw samples.
extension SplineGrid {
    /// The weights of a pixel in its four cells, scaled for enlarging.
    var enlargingWeights: [Quartet] { phases.map { $0 * Float(step) } }

    /// Computes the weighted sum of four rows. May write three more samples.
    static func mix(
        _ rows: [UnsafeMutablePointer<Float>], _ weights: Quartet,
        into target: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        let (r0, r1, r2, r3) = (rows[0], rows[1], rows[2], rows[3])
        let (w0, w1, w2, w3) = (
            Quartet(repeating: weights[0]), Quartet(repeating: weights[1]),
            Quartet(repeating: weights[2]), Quartet(repeating: weights[3])
        )
        var i = 0
        while i < count {
            target.setQuartet(
                i,
                (w0 * r0.quartet(i) + w1 * r1.quartet(i))
                    + (w2 * r2.quartet(i) + w3 * r3.quartet(i)))
            i += 4
        }
    }

    /// Enlarges cells to whole blocks of pixels.
    ///
    /// - Parameters:
    ///   - cells: the cell at the first pixel; one before it and two after the last are read.
    ///   - weights: ``enlargingWeights``, all of the first cell first.
    func enlarge(
        _ cells: UnsafePointer<Float>, _ weights: UnsafePointer<Float>, _ blocks: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        if step == 2 {
            Self.double(cells - 1, weights, blocks, into: out)
        } else {
            Self.multiply(cells - 1, weights, step, blocks, into: out)
        }
    }

    private static func double(
        _ source: UnsafePointer<Float>, _ weights: UnsafePointer<Float>, _ blocks: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        let (a0, b0, a1, b1) = (weights[0], weights[1], weights[2], weights[3])
        let (a2, b2, b3) = (weights[4], weights[5], weights[7])
        for i in 0..<blocks {
            let (p, q, r, s) = (source[i], source[i + 1], source[i + 2], source[i + 3])
            out[2 * i] = a0 * p + a1 * q + a2 * r
            out[2 * i + 1] = (b0 * p + b1 * q) + (b2 * r + b3 * s)
        }
    }

    private static func multiply(
        _ source: UnsafePointer<Float>, _ weights: UnsafePointer<Float>, _ step: Int,
        _ blocks: Int, into out: UnsafeMutablePointer<Float>
    ) {
        if step == 4 { return quadruple(source, weights, blocks, into: out) }
        var out = out
        let (w0, w1, w2, w3) = (weights, weights + step, weights + 2 * step, weights + 3 * step)
        for i in 0..<blocks {
            let p = Octet(repeating: source[i])
            let q = Octet(repeating: source[i &+ 1])
            let r = Octet(repeating: source[i &+ 2])
            let s = Octet(repeating: source[i &+ 3])
            var offset = 0
            while offset < step {
                out.setOctet(
                    offset,
                    (w0.octet(offset) * p + w1.octet(offset) * q)
                        + (w2.octet(offset) * r + w3.octet(offset) * s))
                offset &+= 8
            }
            out += step
        }
    }

    /// The same for a step of four, whose weights stay in registers, as the cells do that the next block has too.
    private static func quadruple(
        _ source: UnsafePointer<Float>, _ weights: UnsafePointer<Float>, _ blocks: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        let (w0, w1) = (weights.quartet(0), weights.quartet(4))
        let (w2, w3) = (weights.quartet(8), weights.quartet(12))
        var p = Quartet(repeating: source[0])
        var q = Quartet(repeating: source[1])
        var r = Quartet(repeating: source[2])
        for i in 0..<blocks {
            let s = Quartet(repeating: source[i &+ 3])
            out.setQuartet(4 &* i, (w0 * p + w1 * q) + (w2 * r + w3 * s))
            (p, q, r) = (q, r, s)
        }
    }
}
