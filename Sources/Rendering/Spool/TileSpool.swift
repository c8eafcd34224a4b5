import Edits
import Glibc
import Codecs

/// A picture in a spool file, read in any order.
struct TileSpool: Sendable {
    /// The layout of its pixels.
    let layout: TileLayout
    private let file: SpoolFile
    /// The offset of its bytes in the file, which several pictures may share.
    private let start: Int

    fileprivate init(_ layout: TileLayout, _ file: SpoolFile, at start: Int) {
        self.layout = layout
        self.file = file
        self.start = start
    }

    /// Returns the bytes on the disk of a spooled picture.
    static func bytes(of layout: TileLayout) -> Int { layout.bytes }

    /// Returns the bytes on the heap while a picture is written: its band. Reading needs none.
    static func memoryBytes(of layout: TileLayout) -> Int { layout.bandBytes }

    /// Reads an area. Any thread may call it.
    ///
    /// - Parameters:
    ///   - area: within the picture.
    ///   - target: receives the first pixel.
    ///   - stride: bytes from one row of the target to the next.
    /// - Throws: `ioFailure`.
    func read(_ area: PixelArea, into target: UnsafeMutableRawPointer, stride: Int)
        throws(Failure)
    {
        for part in layout.parts(of: area.left..<area.left + area.width) {
            let target = target + part.areaColumn * layout.pixelBytes
            if part.count == layout.tileWidth, stride == layout.rowBytes {
                try read(
                    UnsafeMutableRawBufferPointer(
                        start: target, count: area.height * stride), part.tile, area.top)
            } else if 2 * part.count >= layout.tileWidth {
                try readThrough(part, area, target, stride)
            } else {
                let bytes = part.count * layout.pixelBytes
                for y in 0..<area.height {
                    try read(
                        UnsafeMutableRawBufferPointer(start: target + y * stride, count: bytes),
                        part.tile, area.top + y, skipping: part.first * layout.pixelBytes)
                }
            }
        }
    }

    /// Reads whole rows of a column of tiles, of which only some pixels are wanted.
    private func readThrough(
        _ part: TileLayout.Part, _ area: PixelArea, _ target: UnsafeMutableRawPointer, _ stride: Int
    ) throws(Failure) {
        let rowBytes = layout.rowBytes
        let rows = UnsafeMutableRawBufferPointer.allocate(
            byteCount: area.height * rowBytes, alignment: 16)
        defer { rows.deallocate() }
        try read(rows, part.tile, area.top)
        guard let first = rows.baseAddress else { return }
        for y in 0..<area.height {
            (target + y * stride).copyMemory(
                from: first + y * rowBytes + part.first * layout.pixelBytes,
                byteCount: part.count * layout.pixelBytes)
        }
    }

    private func read(
        _ bytes: UnsafeMutableRawBufferPointer, _ tile: Int, _ row: Int, skipping skipped: Int = 0
    ) throws(Failure) {
        try file.read(bytes, at: start + layout.offset(tile: tile, row: row) + skipped)
    }
}

/// Writes a picture into a spool file, row by row from the top.
///
/// Keeps one band in memory. One thread uses it at a time.
final class TileSpoolWriter {
    private let spool: TileSpool
    private let layout: TileLayout
    private let file: SpoolFile
    private let start: Int
    /// The tiles of a band, one behind another.
    private let band: UnsafeMutableRawPointer
    private var rows = 0

    /// - Parameters:
    ///   - file: has space for the layout's bytes after `start`.
    ///   - start: a whole number of pages.
    init(_ layout: TileLayout, to file: SpoolFile, at start: Int = 0) {
        self.layout = layout
        self.file = file
        self.start = start
        spool = TileSpool(layout, file, at: start)
        band = .allocate(byteCount: layout.bandBytes, alignment: 64)
        // The padding outside the picture is written too.
        band.initializeMemory(as: UInt8.self, repeating: 0, count: layout.bandBytes)
    }

    deinit { band.deallocate() }

    /// Appends the next rows.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func append(_ first: UnsafeRawPointer, stride: Int, count: Int) throws(Failure) {
        precondition(rows + count <= layout.height, "\(rows) + \(count) rows of \(layout.height)")
        for index in 0..<count {
            put(first + index * stride)
            rows += 1
            if rows % layout.tileHeight == 0 { try writeBand() }
        }
    }

    /// Returns the picture, after its last row. Missing rows are 0.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func finish() throws(Failure) -> TileSpool {
        if rows % layout.tileHeight != 0 { try writeBand() }
        try file.flush()
        return spool
    }

    /// Distributes a row over the tiles of the band.
    private func put(_ row: UnsafeRawPointer) {
        let (rowBytes, tileBytes) = (layout.rowBytes, layout.tileBytes)
        var target = band + rows % layout.tileHeight * rowBytes
        let leadBytes = layout.lead * layout.pixelBytes
        var rest = layout.width * layout.pixelBytes
        var from = row
        var count = min(rest, rowBytes - leadBytes)
        memcpy(target + leadBytes, from, count)
        while rest > count {
            rest -= count
            from += count
            target += tileBytes
            count = min(rest, rowBytes)
            memcpy(target, from, count)
        }
    }

    private func writeBand() throws(Failure) {
        let top = (rows - 1) / layout.tileHeight * layout.tileHeight
        let bytes = (rows - top) * layout.rowBytes
        for tile in 0..<layout.tilesAcross {
            try file.write(
                UnsafeRawBufferPointer(start: band + tile * layout.tileBytes, count: bytes),
                at: start + layout.offset(tile: tile, row: top))
        }
    }
}
