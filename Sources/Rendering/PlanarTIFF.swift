import Adjustments
import CTIFFTiles
import Synchronization
import Vips

/// The pixels of a TIFF whose tiles hold one channel each, which libvips 8.14 rejects.
///
/// A row of tiles is decoded together and kept, because readers go from top to bottom.
///
/// `@unchecked Sendable` is safe because the lock guards libtiff and all mutable state.
final class PlanarTIFF: @unchecked Sendable {
    /// The most bytes of a tile; tiles of most programs have at most 512 KB.
    private static let tileBytesMax = 64 << 20

    private let tiff: OpaquePointer
    private let shape: minilab_tiff_shape
    private let lock = Mutex(())
    private let tile: UnsafeMutableRawBufferPointer
    /// The decoded rows of the picture, samples interleaved.
    private let rows: UnsafeMutableRawBufferPointer
    /// The number of the first decoded row, or nil before there is one.
    private var top: Int?

    private var pixelBytes: Int { Int(shape.samples) * Int(shape.bits) / 8 }
    private var rowBytes: Int { Int(shape.width) * pixelBytes }

    /// Opens the file; nil if it is not such a TIFF, or if it differs from `image`, which libvips has opened.
    init?(_ descriptor: Int32, like image: Image) {
        var shape = minilab_tiff_shape()
        guard let tiff = minilab_tiff_open(descriptor, &shape) else { return nil }
        let isKnown =
            Int(shape.width) == image.width && Int(shape.height) == image.height
            && Int(shape.samples) * Int(shape.bits) / 8 == image.bytesPerPixel
            && image.format == (shape.bits == 8 ? .uchar : .ushort)
            && shape.tile_bytes <= Self.tileBytesMax
        guard isKnown else {
            minilab_tiff_close(tiff)
            return nil
        }
        self.tiff = tiff
        self.shape = shape
        tile = .allocate(byteCount: shape.tile_bytes, alignment: 16)
        rows = .allocate(
            byteCount: min(Int(shape.tile_height), image.height) * image.width
                * image.bytesPerPixel, alignment: 16)
    }

    deinit {
        minilab_tiff_close(tiff)
        tile.deallocate()
        rows.deallocate()
    }

    /// Returns the picture, with the header of `original`.
    func picture(like original: Image) throws(VipsError) -> Image {
        try Image.supplied(
            RegionPicture(
                width: original.width, height: original.height, bands: original.bands,
                format: original.format, interpretation: original.interpretation),
            like: original
        ) { self.fill($0) }
    }

    private func fill(_ pixels: RegionPixels) -> String? {
        lock.withLock { _ in
            let area = pixels.area
            for y in area.top..<area.top + area.height {
                let first = y - y % Int(shape.tile_height)
                if top != first, let problem = decode(from: first) { return problem }
                let offset = (y - first) * rowBytes + area.left * pixelBytes
                let count = area.width * pixelBytes
                UnsafeMutableRawBufferPointer(start: pixels.row(y - area.top), count: count)
                    .copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: rows[offset..<offset + count]))
            }
            return nil
        }
    }

    private func decode(from first: Int) -> String? {
        top = nil
        for left in stride(from: 0, to: Int(shape.width), by: Int(shape.tile_width)) {
            for plane in 0..<shape.samples {
                let status = minilab_tiff_read(
                    tiff, UInt32(left), UInt32(first), plane, tile.baseAddress, tile.count)
                guard status == 0 else {
                    return "tiff: the tile of plane \(plane) at \(left), \(first) cannot be read"
                }
                if shape.bits == 8 {
                    interleave(tile.assumingMemoryBound(to: UInt8.self), left, first, Int(plane))
                } else {
                    interleave(tile.assumingMemoryBound(to: UInt16.self), left, first, Int(plane))
                }
            }
        }
        top = first
        return nil
    }

    /// Interleaves the samples of a tile, within the picture, with those of the other planes.
    private func interleave<Sample: FixedWidthInteger>(
        _ tile: UnsafeMutableBufferPointer<Sample>, _ left: Int, _ first: Int, _ plane: Int
    ) {
        let (width, samples) = (Int(shape.width), Int(shape.samples))
        let target = rows.assumingMemoryBound(to: Sample.self)
        let columns = min(Int(shape.tile_width), width - left)
        for y in 0..<min(Int(shape.tile_height), Int(shape.height) - first) {
            let source = y * Int(shape.tile_width)
            let start = (y * width + left) * samples + plane
            for x in 0..<columns { target[start + x * samples] = tile[source + x] }
        }
    }
}
