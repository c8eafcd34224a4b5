/// Rows of interleaved samples from which a warp interpolates. The memory belongs to the caller.
package struct WarpedSource {
    /// By row from `top` − `reach` on: the address of column 0, which may be outside the row. Rows outside the picture repeat the
    /// outermost row.
    package let lines: UnsafePointer<UnsafePointer<Float>>
    /// Channels, 3 or 4: the number of samples from one pixel to the next.
    package let bands: Int
    /// The columns and rows in which positions may lie; pixels beyond them equal the outermost.
    package let columns, rows: Range<Int>
    /// Rows above the first and below the last that can be read; as many columns on both sides, and one sample.
    package let reach: Int
}
