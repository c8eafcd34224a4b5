import Edits

/// A colour table by red, green and blue with trilinear interpolation.
///
/// Between the eight nodes around a colour, each channel is interpolated linearly, red first, as in Core Image. (Tetrahedral
/// interpolation differs by up to a few codes.)
struct ColourCube: Sendable {
    /// Nodes along an axis, at least 2.
    let size: Int
    /// Numbers of a node: red, green, blue and optionally alpha.
    let channels: Int
    /// The numbers. Red varies fastest, then green.
    private let table: Table<Float>

    /// Creates a cube of `channels` · `size`³ numbers.
    init(size: Int, channels: Int, _ numbers: [Float]) {
        precondition(numbers.count == size * size * size * channels, "a number for each node")
        self.size = size
        self.channels = channels
        table = Table(count: numbers.count) { numbers[$0] }
    }

    /// Looks up the colours of a chunk.
    ///
    /// - Parameters:
    ///   - low: the colour of the first node.
    ///   - scale: the factor from a colour's distance from `low` to steps between nodes.
    ///   - extrapolates: whether colours outside of the cube are extrapolated linearly; otherwise the outermost node is used.
    ///   - results: the four channels' planes; the last one is not written if there are only three.
    func apply(
        to pixels: PixelChunk, low: [Float], scale: [Float], extrapolates: Bool,
        into results: [UnsafeMutablePointer<Float>]
    ) {
        let values = table.values
        let last = Float(size - 1)
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        // Strides of the table along each axis.
        let (right, up, back) = (channels, channels * size, channels * size * size)
        func position(_ number: Float, _ axis: Int) -> (node: Int, part: Float) {
            let position = (number - low[axis]) * scale[axis]
            let bounded = extrapolates ? position : min(max(position, 0), last)
            let node = min(max(bounded.rounded(.down), 0), last - 1)
            return (Int(node), bounded - node)
        }
        for i in 0..<pixels.count {
            let (r, g, b) = (position(red[i], 0), position(green[i], 1), position(blue[i], 2))
            let corner = values + r.node * right + g.node * up + b.node * back
            for channel in 0..<channels {
                let c = corner + channel
                let c00 = c[0] + (c[right] - c[0]) * r.part
                let c10 = c[up] + (c[up + right] - c[up]) * r.part
                let c01 = c[back] + (c[back + right] - c[back]) * r.part
                let c11 = c[back + up] + (c[back + up + right] - c[back + up]) * r.part
                let c0 = c00 + (c10 - c00) * g.part
                let c1 = c01 + (c11 - c01) * g.part
                results[channel][i] = c0 + (c1 - c0) * b.part
            }
        }
    }
}
