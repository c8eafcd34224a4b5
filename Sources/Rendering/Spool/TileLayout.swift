import Vips

/// Where the pixels of a picture lie in a spool: in tiles, those of a column of tiles one behind another.
///
/// So some rows of a column of tiles are one piece of the file, whatever rows they are, and the width of a
/// tile is chosen by who reads. Pixels are any elements of some bytes: samples of a plane or blocks of
/// coefficients too.
///
/// Rows arrive in bands as tall as a tile, so that each tile is written at once. It has a whole number of
/// pages, since a page that is written in two parts is read in between.
struct TileLayout: Sendable, Equatable {
    /// Who reads the pixels, and so in which order.
    enum Reader: Sendable, Equatable {
        /// Whole rows.
        case rows
        /// Columns, so many at a time, for a turn by 90 degrees; from the left, or from the right.
        case columns(Int, fromRight: Bool)
        /// Squares at any place, for a warp.
        case squares
    }

    /// Columns and rows of the picture.
    let width: Int, height: Int
    /// Bytes of a pixel.
    let pixelBytes: Int
    /// Columns of a tile.
    let tileWidth: Int
    /// Rows of a tile, and of a band.
    let tileHeight: Int
    /// Columns of the first tile that lie left of the picture, so that columns counted from the right begin
    /// with a tile.
    let lead: Int

    /// Side of the squares that libvips asks for.
    static let squareSide = 128
    /// Bytes that are written at once at least. A system call of 12 KB takes 2 µs, half of which is copying.
    static let tileBytesMin = 12 << 10
    /// Whole rows written at once.
    private static let rowsBytesMin = 256 << 10
    private static let pageBytes = 4096

    /// Decides the tiles.
    init(width: Int, height: Int, pixelBytes: Int, for reader: Reader) {
        self.width = width
        self.height = height
        self.pixelBytes = pixelBytes
        switch reader {
        case .rows:
            (tileWidth, lead) = (width, 0)
            tileHeight = max(1, min(height, Self.rowsBytesMin / (width * pixelBytes)))
            return
        case .columns(let count, let fromRight):
            tileWidth = count
            lead = fromRight ? (count - width % count) % count : 0
        case .squares: (tileWidth, lead) = (Self.squareSide, 0)
        }
        // The largest power of two that divides a row's bytes is what a page has in common with it.
        let rowBytes = tileWidth * pixelBytes
        let pageRows = Self.pageBytes / min(Self.pageBytes, rowBytes & -rowBytes)
        let rows = max(1, Self.tileBytesMin / rowBytes)
        tileHeight = (rows + pageRows - 1) / pageRows * pageRows
    }

    /// Tiles from left to right.
    var tilesAcross: Int { (lead + width + tileWidth - 1) / tileWidth }
    /// Bytes of a row of a tile.
    var rowBytes: Int { tileWidth * pixelBytes }
    /// Bytes of a tile.
    var tileBytes: Int { tileHeight * rowBytes }
    /// Bytes of a column of tiles.
    var columnBytes: Int { (height + tileHeight - 1) / tileHeight * tileBytes }
    /// Bytes of all tiles.
    var bytes: Int { tilesAcross * columnBytes }
    /// Bytes of all tiles, up to a whole page: where another picture may begin.
    var wholePages: Int { (bytes + Self.pageBytes - 1) / Self.pageBytes * Self.pageBytes }
    /// Bytes of a band, which is what a writer keeps in memory.
    var bandBytes: Int { tilesAcross * tileBytes }

    /// Where a row of a column of tiles begins.
    func offset(tile: Int, row: Int) -> Int { tile * columnBytes + row * rowBytes }

    /// What a column of tiles has of an area.
    struct Part: Equatable {
        /// Which column of tiles.
        let tile: Int
        /// The first column, counted from that of the tile.
        let first: Int
        /// The same, counted from the area's left edge.
        let place: Int
        /// How many columns.
        let count: Int
    }

    /// The parts of some columns of the picture, from left to right.
    func parts(of columns: Range<Int>) -> [Part] {
        let (start, end) = (columns.lowerBound + lead, columns.upperBound + lead)
        guard start < end else { return [] }
        return (start / tileWidth...(end - 1) / tileWidth).map { tile in
            let first = max(start, tile * tileWidth)
            return Part(
                tile: tile, first: first - tile * tileWidth, place: first - start,
                count: min(end, (tile + 1) * tileWidth) - first)
        }
    }
}
