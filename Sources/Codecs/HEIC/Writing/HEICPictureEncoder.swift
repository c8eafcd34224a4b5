public import PhotoFiles

/// Encodes a picture row by row: tiles of HEVC, each an independent picture.
///
/// Memory: a row of tiles, and an encoder for one of them. The same pixels result in the same bytes. Not thread-safe.
public final class HEICPictureEncoder {
    /// The largest side of a tile, the same as phones use.
    public static let tileSide = 512
    /// The smallest side of a tile, and its granularity: a block of x265, which encodes nothing smaller.
    private static let block = 64

    /// The picture's description for boxes, with the coding's colour.
    public let picture: HEIFCodedPicture
    /// A thumbnail, available after all rows; nil for pictures that are small themselves, or too narrow.
    public let thumbnail: Thumbnail?
    private let coding: HEICCoding
    private let rows: PlaneRowWriter
    private let planes: BandPlanes
    /// Created to read the configuration; encodes the first tiles.
    private var opened: TileEncoder?
    private var made = 0

    /// Opens an encoder, without encoding yet.
    ///
    /// - Parameters:
    ///   - bands: samples of a pixel.
    ///   - colour: the items' colour, as ``HEIFCodedPicture/colour``.
    ///   - hasThumbnail: whether to make a thumbnail as well.
    public init(
        width: Int, height: Int, bands: Int, _ samples: HEICSamples, _ coding: HEICCoding,
        colour: [HEIFProperty], hasThumbnail: Bool = false
    ) throws(HEICError) {
        self.coding = coding
        let tile = (Self.side(width, coding), Self.side(height, coding))
        let encoder: TileEncoder
        do throws(CodecError) {
            encoder = try TileEncoder(coding, width: tile.0, height: tile.1)
        } catch {
            throw .codec(error)
        }
        opened = encoder
        picture = HEIFCodedPicture(
            width: width, height: height, tileWidth: tile.0, tileHeight: tile.1,
            configuration: encoder.configuration.bytes,
            bits: [Int](repeating: coding.bits, count: coding.planeCount), colour: colour)
        guard picture.columns <= HEIFCodedPicture.tilesMax,
            picture.rows <= HEIFCodedPicture.tilesMax
        else {
            throw .unsupported("a picture of \(picture.columns) × \(picture.rows) tiles")
        }
        rows = PlaneRowWriter(coding, samples, bands: bands, width: width, height: height)
        planes = BandPlanes(
            coding, width: width, columns: picture.columns, tileWidth: tile.0, tileHeight: tile.1)
        thumbnail =
            hasThumbnail && picture.isGrid
            ? try Thumbnail(of: picture, coding, colour: colour) : nil
    }

    /// Returns the side of tiles for a side of a picture: whole samples of chroma, and at least a block.
    private static func side(_ length: Int, _ coding: HEICCoding) -> Int {
        guard length < tileSide else { return tileSide }
        let even = (length + coding.shift) & ~coding.shift
        return max(block, even)
    }

    /// Returns the bytes that it holds: planes of a row of tiles, and x265's memory for one tile (Rendering/Encoders/MEASURED.md).
    public static func bytes(width: Int, _ coding: HEICCoding) -> Int {
        let chroma = coding.planeCount == 1 ? 0 : 2 * tileSide * tileSide >> (2 * coding.shift)
        let tile = (tileSide * tileSide + chroma) * coding.sampleBytes
        let columns = (width + tileSide - 1) / tileSide
        return columns * tile + keptTiles * tile + tables
    }

    /// x265's frames, each with a margin, and its tables and code.
    private static let keptTiles = 16, tables = 12 << 20

    /// Encodes the next row, of 8 bits for codes of 8 bits, otherwise of 16.
    ///
    /// - Returns: the tiles completed by this row, in order; empty for most rows.
    public func append(_ pixels: UnsafeRawPointer) throws(HEICError) -> [[UInt8]] {
        let row = made % picture.tileHeight
        rows.write(pixels, y: made, to: planes, row: row)
        made += 1
        guard row == picture.tileHeight - 1 || made == picture.height else { return [] }
        thumbnail?.add(planes, rows: row + 1)
        planes.pad(rows: row + 1)
        do throws(CodecError) {
            return try codeBand()
        } catch {
            throw .codec(error)
        }
    }

    private func codeBand() throws(CodecError) -> [[UInt8]] {
        var coded: [[UInt8]] = []
        var encoder: TileEncoder?
        for column in 0..<picture.columns {
            if column % TileEncoder.runLength == 0 {
                // Frees the previous encoder first.
                encoder = nil
                encoder = if let opened { opened } else { try newEncoder() }
                opened = nil
            }
            guard let encoder else { continue }
            coded.append(try encoder.code { planes.copyTile(column, to: $0) })
        }
        return coded
    }

    private func newEncoder() throws(CodecError) -> TileEncoder {
        try TileEncoder(coding, width: picture.tileWidth, height: picture.tileHeight)
    }
}
