public import Boxes
import Codecs

/// Codes a picture row by row: tiles of HEVC, each a picture that stands by itself.
///
/// Memory is a row of tiles, and an encoder for one of them. The same pixels give the same bytes. Not for several threads
/// at once.
public final class HEICPictureEncoder {
    /// The longest side of a tile, as phones have it.
    public static let tileSide = 512
    /// The shortest, and what sides of tiles are multiples of: a block of x265's, below which it codes nothing.
    private static let block = 64

    /// The picture as boxes describe it; its colour is that of the coding.
    public let picture: HEIFCodedPicture
    /// A small one of the same, once all rows are there; nil for pictures that are small themselves, or that narrow.
    public let thumbnail: Thumbnail?
    private let coding: HEICCoding
    private let rows: PlaneRows
    private let planes: BandPlanes
    /// Made to know the configuration; the first tiles are coded by it.
    private var opened: TileEncoder?
    private var made = 0

    /// Opens an encoder; nothing is coded yet.
    ///
    /// - Parameters:
    ///   - bands: samples of a pixel.
    ///   - colour: of the items, as ``HEIFCodedPicture/colour``.
    ///   - hasThumbnail: whether to make one as well.
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
        rows = PlaneRows(coding, samples, bands: bands, width: width, height: height)
        planes = BandPlanes(
            coding, width: width, columns: picture.columns, tileWidth: tile.0, tileHeight: tile.1)
        thumbnail =
            hasThumbnail && picture.isGrid
            ? try Thumbnail(of: picture, coding, colour: colour) : nil
    }

    /// A side of tiles for one of a picture: whole samples of chroma, and no less than a block.
    private static func side(_ length: Int, _ coding: HEICCoding) -> Int {
        guard length < tileSide else { return tileSide }
        let even = (length + coding.shift) & ~coding.shift
        return max(block, even)
    }

    /// Bytes that it holds: planes of a row of tiles, and what x265 keeps for one of them (Rendering/Encoders/MEASURED.md).
    public static func bytes(width: Int, _ coding: HEICCoding) -> Int {
        let chroma = coding.planeCount == 1 ? 0 : 2 * tileSide * tileSide >> (2 * coding.shift)
        let tile = (tileSide * tileSide + chroma) * coding.sampleBytes
        let columns = (width + tileSide - 1) / tileSide
        return columns * tile + keptTiles * tile + tables
    }

    /// x265's frames, each with a margin, and its tables and code.
    private static let keptTiles = 16, tables = 12 << 20

    /// Takes the next row, of 8 bits for codes of 8 bits, else of 16.
    ///
    /// - Returns: tiles that are coded by now, each behind the one before; empty for most rows.
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
                // The one before ends first.
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
