import Adjustments
import Filters

extension PixelChunk {
    /// The largest half-precision number: Core Image keeps its pixels in such.
    private static let most: Float = 65_504

    /// Puts the pixels through filters.
    func run(_ filters: [any PixelFilter]) {
        limit()
        for filter in filters {
            filter.apply(to: self)
            limit()
        }
    }

    /// Keeps numbers from growing to infinity over a chain, and so from becoming none at all.
    private func limit() {
        let most = Self.most
        for plane in [red, green, blue] {
            for i in 0..<count {
                // Written so that what is no number becomes the least one.
                let high = plane[i] < most ? plane[i] : most
                plane[i] = plane[i] > -most ? high : -most
            }
        }
    }

    /// Multiplies each colour by a matrix.
    func multiply(by matrix: ColourMatrix) {
        let m = matrix.rows.map(Float.init)
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
}
