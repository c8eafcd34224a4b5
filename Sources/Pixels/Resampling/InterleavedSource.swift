package import Adjustments

/// A picture that can be made row by row with its samples interleaved, too.
package protocol InterleavedSource: RowSource {
    /// Makes the next row.
    func next(interleaved row: UnsafeMutablePointer<Float>)
}
