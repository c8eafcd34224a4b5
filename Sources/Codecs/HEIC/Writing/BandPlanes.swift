/// Planes of a row of tiles to be encoded.
///
/// Rows have the length of all tiles. The part of tiles beyond the picture repeats its outermost samples, which costs few bits and
/// causes no visible edge.
final class BandPlanes {
    struct Plane {
        let start: UnsafeMutableRawPointer
        /// The size of the whole tiles in samples, and that of the picture.
        let width: Int, height: Int
        let used: Int
        let rowBytes: Int

        func row(_ row: Int) -> UnsafeMutableRawPointer { start + row * rowBytes }
    }

    let planes: [Plane]
    private let sampleBytes: Int
    private let shift: Int

    /// - Parameters:
    ///   - width: the picture's width.
    ///   - columns: tiles in a row.
    init(_ coding: HEICCoding, width: Int, columns: Int, tileWidth: Int, tileHeight: Int) {
        sampleBytes = coding.sampleBytes
        shift = coding.shift
        planes = (0..<coding.planeCount).map { index in
            let shift = index == 0 ? 0 : coding.shift
            let (whole, rows) = (columns * tileWidth >> shift, tileHeight >> shift)
            let rowBytes = whole * coding.sampleBytes
            let start = UnsafeMutableRawPointer.allocate(
                byteCount: rowBytes * rows, alignment: 64)
            start.initializeMemory(as: UInt8.self, repeating: 0, count: rowBytes * rows)
            return Plane(
                start: start, width: whole, height: rows, used: (width + (1 << shift) - 1) >> shift,
                rowBytes: rowBytes)
        }
    }

    deinit { for plane in planes { plane.start.deallocate() } }

    /// Fills the part beyond the picture.
    ///
    /// - Parameter rows: the available rows of luma.
    func pad(rows: Int) {
        for (index, plane) in planes.enumerated() {
            let shift = index == 0 ? 0 : self.shift
            let filled = (rows + (1 << shift) - 1) >> shift
            for row in 0..<filled {
                let start = plane.row(row)
                let last = start + (plane.used - 1) * sampleBytes
                for column in plane.used..<plane.width {
                    (start + column * sampleBytes).copyMemory(from: last, byteCount: sampleBytes)
                }
            }
            for row in filled..<max(filled, plane.height) {
                plane.row(row).copyMemory(from: plane.row(filled - 1), byteCount: plane.rowBytes)
            }
        }
    }

    /// Copies a tile to the planes of an encoder.
    func copyTile(_ column: Int, to targets: [VideoEncoder.Plane]) {
        for (plane, target) in zip(planes, targets) {
            let bytes = target.width * sampleBytes
            for row in 0..<target.height {
                (target.start + row * target.stride).copyMemory(
                    from: plane.row(row) + column * bytes, byteCount: bytes)
            }
        }
    }
}
