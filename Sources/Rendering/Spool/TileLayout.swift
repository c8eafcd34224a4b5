import CMinilab
import Codecs
import Edits
import Files
import Glibc
import Synchronization
import SystemPackage

/// The layout of a picture's pixels in a spool: tiles, stored column of tiles after column of tiles.
///
/// So any range of rows of a column of tiles is contiguous in the file, and the reader's access pattern determines the width of a
/// tile. A pixel is any element of a fixed number of bytes, including a sample of a plane or a block of coefficients.
///
/// Rows arrive in bands as high as a tile, so that each tile is written at once. A tile has a whole number of pages, since a page
/// that is written in two parts is read in between.
struct TileLayout: Sendable, Equatable {
    /// The reader's order of access.
    enum Reader: Sendable, Equatable {
        case rows
        /// Groups of this many columns, for a turn by 90 degrees, from the left or from the right.
        case columns(Int, fromRight: Bool)
        case squares
    }

    let width: Int, height: Int
    /// Bytes per pixel.
    let pixelBytes: Int
    let tileWidth: Int
    let tileHeight: Int
    /// Columns of the first tile that lie left of the picture, so that columns counted from the right begin with a tile.
    let lead: Int

    /// The side of the squares that libvips requests.
    static let squareSide = 128
    /// The least bytes per write. A system call for 12 KB takes 2 µs, half of which is copying.
    static let tileBytesMin = 12 << 10
    /// The least bytes of whole rows per write.
    private static let rowsBytesMin = 256 << 10
    private static let pageBytes = 4096

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
        // The largest power of two that divides a row's bytes is their common divisor with a page.
        let rowBytes = tileWidth * pixelBytes
        let pageRows = Self.pageBytes / min(Self.pageBytes, rowBytes & -rowBytes)
        let rows = max(1, Self.tileBytesMin / rowBytes)
        tileHeight = (rows + pageRows - 1) / pageRows * pageRows
    }

    var tilesAcross: Int { (lead + width + tileWidth - 1) / tileWidth }
    var rowBytes: Int { tileWidth * pixelBytes }
    var tileBytes: Int { tileHeight * rowBytes }
    /// Bytes of a column of tiles.
    var columnBytes: Int { (height + tileHeight - 1) / tileHeight * tileBytes }
    var bytes: Int { tilesAcross * columnBytes }
    /// Bytes of all tiles, rounded up to a whole page, where another picture may begin.
    var wholePages: Int { (bytes + Self.pageBytes - 1) / Self.pageBytes * Self.pageBytes }
    /// Bytes of a band, which a writer keeps in memory.
    var bandBytes: Int { tilesAcross * tileBytes }

    func offset(tile: Int, row: Int) -> Int { tile * columnBytes + row * rowBytes }

    /// The part of an area that lies in one column of tiles.
    struct Part: Equatable {
        let tile: Int
        /// The first column of the part, counted from the tile's left edge.
        let first: Int
        /// The first column of the part, counted from the area's left edge.
        let areaColumn: Int
        let count: Int
    }

    func parts(of columns: Range<Int>) -> [Part] {
        let (start, end) = (columns.lowerBound + lead, columns.upperBound + lead)
        guard start < end else { return [] }
        return (start / tileWidth...(end - 1) / tileWidth).map { tile in
            let first = max(start, tile * tileWidth)
            return Part(
                tile: tile, first: first - tile * tileWidth, areaColumn: first - start,
                count: min(end, (tile + 1) * tileWidth) - first)
        }
    }
}

/// The spool file of a request, for pixels that do not fit into memory. It is allocated in parts.
final class SpoolSpace: Sendable {
    let file: OpenFile
    private let state = Mutex((end: 0, parts: 0))

    init(_ file: OpenFile) { self.file = file }

    /// Allocates a part.
    ///
    /// - Returns: its start.
    /// - Throws: `noSpace` if the disk or a quota has too little, `ioFailure`.
    func reserve(_ bytes: Int) throws(Failure) -> Int {
        let free = try DiskSpace(of: file).free
        guard free >= bytes else {
            throw Failure(
                .noSpace,
                "The render needs a spool file of \(bytes) bytes, and the disk has \(free) free. Free "
                    + "some space, or put the staging folder on a larger disk.")
        }
        let start = state.withLock { state in
            defer { state = (state.end + bytes, state.parts + 1) }
            return state.end
        }
        do throws(Errno) {
            try allocate(start, bytes)
        } catch {
            release(start, bytes)
            throw Self.failure("make a spool file of \(bytes) bytes", error)
        }
        return start
    }

    /// Releases a part. When no part is left, the file is empty again.
    func release(_ start: Int, _ bytes: Int) {
        // Space that the file system cannot free now is freed with the file.
        _ = minilab_free(file.descriptor, Int64(start), Int64(bytes))
        state.withLock { state in
            state.parts -= 1
            if state.parts == 0 { state.end = 0 }
        }
    }

    /// Allocates the space. File systems without support for that only set the length.
    private func allocate(_ start: Int, _ bytes: Int) throws(Errno) {
        do throws(Errno) {
            try Descriptor.uninterrupted {
                minilab_allocate(file.descriptor, Int64(start), Int64(bytes))
            }
        } catch {
            guard error.rawValue == EOPNOTSUPP else { throw error }
            try Descriptor.cut(file.descriptor, to: start + bytes)
        }
    }

    /// Returns the result of a call, or throws the failure for its error.
    static func saying<Result>(
        _ action: @autoclosure () -> String, _ call: @autoclosure () throws(Errno) -> Result
    ) throws(Failure) -> Result {
        do throws(Errno) { return try call() } catch { throw failure(action(), error) }
    }

    static func failure(_ action: String, _ error: Errno) -> Failure {
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(error.rawValue)
        return Failure(
            isFull ? .noSpace : .ioFailure,
            "The render could not \(action): \(error)."
                + (isFull ? " Free some space, or raise the quota." : ""))
    }
}
