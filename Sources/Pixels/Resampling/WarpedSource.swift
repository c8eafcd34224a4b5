/// Rows of interleaved samples that a warp looks its pixels up in. The memory belongs to the caller.
package struct WarpedSource {
    /// By row from `top` − `reach` on: where its sample of column 0 is, or would be. What lies outside is as the
    /// outermost row.
    package let lines: UnsafePointer<UnsafePointer<Float>>
    /// Channels, 3 or 4: so many samples lie from a pixel to the next.
    package let bands: Int
    /// The columns and rows that places may lie in; what is beyond counts as the outermost.
    package let columns, rows: Range<Int>
    /// Rows above the first that can be looked at, and below the last; as many columns on both sides, and one sample.
    package let reach: Int
}
