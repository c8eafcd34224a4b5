import Edits

extension Geometry {
    /// Returns this geometry for a small copy of the source: a point at a fraction of the full result lies at the same fraction of
    /// the small one.
    ///
    /// Whole pixels of the photo are fractions of the copy's pixels, so sizes are rounded and positions are not. All maps between
    /// two pictures use fractions of their sides, so rounding errors do not accumulate from step to step.
    ///
    /// - Parameter small: the size of the copy or gain map, which may equal the size of this geometry's source.
    func seen(on small: PixelSize) -> Geometry {
        let target = small.shrunk(size, like: source, swapsSides: swapsSides)
        return .scaling(small, to: source).then(self).then(.scaling(size, to: target))
    }

    /// Returns the geometry that stretches a picture to another size.
    static func scaling(_ source: PixelSize, to size: PixelSize) -> Geometry {
        Geometry(
            of: source, size: size,
            toSource: Homography(
                affine: Double(source.width) / Double(size.width), 0, 0, 0,
                Double(source.height) / Double(size.height), 0))
    }
}

extension PixelSize {
    /// Returns the size of a small picture after the full one changed its size, at the same scale. It never has more pixels than
    /// before, because there is no more detail.
    fileprivate func shrunk(_ result: PixelSize, like source: PixelSize, swapsSides: Bool)
        -> PixelSize
    {
        let across = Double(width) / Double(source.width)
        let down = Double(height) / Double(source.height)
        let scale = swapsSides ? (x: down, y: across) : (x: across, y: down)
        let size = (Double(result.width) * scale.x, Double(result.height) * scale.y)
        let less = min(1, (Double(pixels) / (size.0 * size.1)).squareRoot())
        // Sides are rounded down if the result would have too many pixels. A picture has at least one pixel.
        let rule: FloatingPointRoundingRule = less < 1 ? .down : .toNearestOrAwayFromZero
        return PixelSize(
            width: max(1, Int((size.0 * less).rounded(rule))),
            height: max(1, Int((size.1 * less).rounded(rule))))
    }
}
