import Adjustments

extension Geometry {
    /// The same for a small copy of the source: what lies at a part of the full result lies at the same part of the small one.
    ///
    /// Whole pixels of the photo are parts of pixels of the copy, so sizes are rounded and places are not: all maps between
    /// two pictures are of parts of their sides, and nothing adds up from step to step.
    ///
    /// - Parameter small: the copy, or a gain map; as large as the source of this geometry or not.
    func seen(on small: PixelSize) -> Geometry {
        let target = small.shrunk(size, like: source, swapsSides: swapsSides)
        return .scaling(small, to: source).then(self).then(.scaling(size, to: target))
    }

    /// A picture stretched to another size.
    static func scaling(_ source: PixelSize, to size: PixelSize) -> Geometry {
        Geometry(
            of: source, size: size,
            toSource: Homography(
                affine: Double(source.width) / Double(size.width), 0, 0, 0,
                Double(source.height) / Double(size.height), 0))
    }
}

extension PixelSize {
    /// The size of a small picture of this size after the full one became another size, at the same scale; never of more
    /// pixels than before, since there is no more to see.
    fileprivate func shrunk(_ result: PixelSize, like source: PixelSize, swapsSides: Bool)
        -> PixelSize
    {
        let across = Double(width) / Double(source.width)
        let down = Double(height) / Double(source.height)
        let scale = swapsSides ? (x: down, y: across) : (x: across, y: down)
        let size = (Double(result.width) * scale.x, Double(result.height) * scale.y)
        let less = min(1, (Double(pixels) / (size.0 * size.1)).squareRoot())
        // Sides are rounded down where they would be too many pixels, and a picture has one at least.
        let rule: FloatingPointRoundingRule = less < 1 ? .down : .toNearestOrAwayFromZero
        return PixelSize(
            width: max(1, Int((size.0 * less).rounded(rule))),
            height: max(1, Int((size.1 * less).rounded(rule))))
    }
}
