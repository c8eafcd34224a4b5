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

    /// Replaces each colour by its product with a matrix.
    func multiply(by matrix: ColourMatrix) { multiply(by: matrix.rows.map(Float.init)) }
}
