package import Adjustments
package import Filters

extension PixelChunk {
    /// Puts the pixels through filters.
    package func run(_ filters: [any PixelFilter]) {
        guard !filters.isEmpty else { return }
        limit()
        for filter in filters {
            filter.apply(to: self)
            limit()
        }
    }

    /// Keeps numbers from growing to infinity over a chain, and so from becoming none at all.
    private func limit() {
        let most = Float(PixelForm.lightMax)
        for plane in [red, green, blue] {
            for i in 0..<count {
                // Written so that what is no number becomes the least one, and as one instruction each.
                let above = plane[i] > -most ? plane[i] : -most
                plane[i] = above < most ? above : most
            }
        }
    }

    /// Replaces each colour by its product with a matrix.
    package func multiply(by matrix: ColourMatrix) { multiply(by: matrix.rows.map(Float.init)) }
}
