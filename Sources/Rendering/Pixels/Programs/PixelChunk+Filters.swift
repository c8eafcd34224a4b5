package import Edits
package import Filters

extension PixelChunk {
    /// Applies filters to the pixels.
    package func run(_ filters: [any PixelFilter]) {
        guard !filters.isEmpty else { return }
        limit()
        for filter in filters {
            filter.apply(to: self)
            limit()
        }
    }

    /// Limits values, so that they do not grow to infinity, and then to NaN, over a chain.
    private func limit() {
        let most = Float(PixelForm.lightMax)
        for plane in [red, green, blue] {
            for i in 0..<count {
                // Written so that NaN becomes the lowest value, and so that each comparison is one instruction.
                let above = plane[i] > -most ? plane[i] : -most
                plane[i] = above < most ? above : most
            }
        }
    }

    /// Multiplies each colour by a matrix.
    package func multiply(by matrix: ColourMatrix) { multiply(by: matrix.rows.map(Float.init)) }
}
