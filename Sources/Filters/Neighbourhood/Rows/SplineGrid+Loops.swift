// The inner loops of enlarging, over raw samples.
extension SplineGrid {
    /// The weights of a pixel in its four cells, scaled for enlarging.
    var enlargingWeights: [Lanes] { phases.map { $0 * Float(step) } }

    /// Computes the weighted sum of four rows. May write three more samples.
    static func mix(
        _ rows: [UnsafeMutablePointer<Float>], _ weights: Lanes,
        into target: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        let (r0, r1, r2, r3) = (rows[0], rows[1], rows[2], rows[3])
        let (w0, w1, w2, w3) = (
            Lanes(repeating: weights[0]), Lanes(repeating: weights[1]),
            Lanes(repeating: weights[2]), Lanes(repeating: weights[3])
        )
        var i = 0
        while i < count {
            target.setLanes(
                i,
                (w0 * r0.lanes(i) + w1 * r1.lanes(i)) + (w2 * r2.lanes(i) + w3 * r3.lanes(i)))
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
        var out = out
        let (w0, w1, w2, w3) = (weights, weights + step, weights + 2 * step, weights + 3 * step)
        for i in 0..<blocks {
            let p = Lanes(repeating: source[i])
            let q = Lanes(repeating: source[i + 1])
            let r = Lanes(repeating: source[i + 2])
            let s = Lanes(repeating: source[i + 3])
            var place = 0
            while place < step {
                out.setLanes(
                    place,
                    (w0.lanes(place) * p + w1.lanes(place) * q)
                        + (w2.lanes(place) * r + w3.lanes(place) * s))
                place += 4
            }
            out += step
        }
    }
}
