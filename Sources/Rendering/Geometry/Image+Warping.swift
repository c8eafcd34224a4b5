import Adjustments
import Vips

extension Image {
    /// Resampled in the plane, tile by tile; this image is linear light, and what tiles ask for is within
    /// reach: it streams with enough lines kept, or is read in any order.
    ///
    /// - Parameter shrink: by what this image was shrunk.
    func warped(_ geometry: Geometry, shrink: (columns: Int, rows: Int)) throws(VipsError) -> Image
    {
        let warp = BicubicWarp(geometry, shrink: shrink)
        let bands = bands
        let (width, height) = (width, height)
        return try computing(
            linearPicture(
                width: geometry.size.width, height: geometry.size.height, shape: .squares),
            reading: { area in
                let wanted = PixelRectangle(area, of: geometry.size)
                let margin = warp.margin * max(shrink.columns, shrink.rows)
                guard let read = geometry.read(for: wanted, margin: margin) else { return nil }
                let full = PixelArea(read, of: geometry.source)
                let (left, top) = (full.left / shrink.columns, full.top / shrink.rows)
                let right = (full.left + full.width - 1) / shrink.columns
                let bottom = (full.top + full.height - 1) / shrink.rows
                return PixelArea(
                    left: left, top: top, width: min(right, width - 1) - left + 1,
                    height: min(bottom, height - 1) - top + 1)
            }
        ) { warp.run(SampleRectangle($0), SampleRectangle($1), bands: bands) }
    }
}
