public import Edits

extension PixelChunk {
    /// Red, green and blue, for filters that treat them alike.
    var colours: [UnsafeMutablePointer<Float>] { [red, green, blue] }

    /// Converts linear light to sRGB-encoded values, also beyond 0 to 1.
    func encode() {
        for plane in colours { LightCurve.encoding.applySigned(to: plane, count: count) }
    }

    /// Reverses ``encode()``.
    func decode() {
        for plane in colours { LightCurve.decoding.applySigned(to: plane, count: count) }
    }

    /// Multiplies each colour by a matrix of nine numbers, row by row.
    public func multiply(by m: [Float]) {
        let (red, green, blue) = (red, green, blue)
        let (m0, m1, m2, m3, m4) = (m[0], m[1], m[2], m[3], m[4])
        let (m5, m6, m7, m8) = (m[5], m[6], m[7], m[8])
        for i in 0..<count {
            let (r, g, b) = (red[i], green[i], blue[i])
            red[i] = m0 * r + m1 * g + m2 * b
            green[i] = m3 * r + m4 * g + m5 * b
            blue[i] = m6 * r + m7 * g + m8 * b
        }
    }

    /// Copies red to green and blue.
    func makeGrey() {
        green.update(from: red, count: count)
        blue.update(from: red, count: count)
    }

    /// Clamps colours to 0 to 1.
    func clamp() {
        for plane in colours {
            for i in 0..<count { plane[i] = min(max(plane[i], 0), 1) }
        }
    }

    /// Clamps alpha to 0 to 1: other values are meaningless.
    func limitAlpha() {
        for i in 0..<count { alpha[i] = min(max(alpha[i], 0), 1) }
    }
}
