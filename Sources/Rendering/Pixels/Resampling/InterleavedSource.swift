package import Edits

/// A picture whose rows can also be made with interleaved samples.
package protocol InterleavedSource: RowSource {
    /// Makes the next row.
    func next(interleaved row: UnsafeMutablePointer<Float>)
}
