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

/// Encodes tiles of one size, each as an independent picture.
///
/// x265 marks pictures with a bit of their running number, which has no meaning in them. So that bytes depend only on the tile's
/// place, a ``TileEncoder`` encodes a fixed run of tiles and is replaced for the next run.
final class TileEncoder {
    private let encoder: VideoEncoder
    private var coded = 0

    /// The content of `hvcC`, the same for all encoders of a coding and size.
    let configuration: HEVCConfiguration

    /// Tiles that one encoder encodes: opening it takes as long as a tenth of a tile of 512 × 512.
    static let runLength = 4

    init(_ coding: HEICCoding, width: Int, height: Int) throws(CodecError) {
        encoder = try VideoEncoder(.hevc, coding.settings(width: width, height: height))
        let configuration = HEVCConfiguration(
            parameterSets: encoder.parameterSets, chromaFormat: coding.chroma.rawValue,
            bits: coding.bits)
        guard let configuration else {
            throw CodecError(kind: .unsupported, step: "find the parameter sets")
        }
        self.configuration = configuration
    }

    /// Encodes a tile.
    ///
    /// - Parameter fill: writes its planes.
    /// - Returns: its NAL units, each preceded by its length in four bytes.
    func code(_ fill: ([VideoEncoder.Plane]) -> Void) throws(CodecError) -> [UInt8] {
        try encoder.send(rank: coded, isKey: true, fill)
        coded += 1
        guard let packet = try encoder.receive() else {
            throw CodecError(kind: .unsupported, step: "encode a picture at once")
        }
        return packet.sample
    }
}

/// The samples of a pixel that are encoded.
public enum HEICSamples: Sendable {
    /// Red, green and blue: the first three.
    case colour
    case one(Int)
}

/// The settings for encoding a picture's samples as HEVC.
public struct HEICCoding: Sendable {
    /// The chroma sampling.
    public enum Chroma: Int, Sendable {
        /// None: a luma-only picture.
        case none = 0
        /// One sample for two columns and two rows, in the middle of their four pixels.
        case half = 1
        case full = 3
    }

    public var chroma: Chroma
    /// Bits of a coded sample: 8, 10 or 12.
    public var bits: Int
    /// x265's constant rate factor, 0 to 51, the quantiser of all tiles: lower is better.
    public var rate: Double
    /// The colour declarations of the stream besides the matrix: numbers of ITU-T H.273, or nil if a profile defines the colours.
    public var primaries: Int?, transfer: Int?

    public init(
        chroma: Chroma, bits: Int, rate: Double, primaries: Int? = nil, transfer: Int? = nil
    ) {
        (self.chroma, self.bits, self.rate) = (chroma, bits, rate)
        (self.primaries, self.transfer) = (primaries, transfer)
    }

    /// The matrix of all written pictures: that of ITU-R BT.601, as used by JPEG and phones.
    static let matrix = 6

    /// The colour of the pictures' items, for pictures without a profile.
    public var colour: HEIFProperty.CodedColour {
        HEIFProperty.CodedColour(
            primaries: primaries ?? 2, transfer: transfer ?? 2, matrix: Self.matrix,
            isFullRange: true)
    }

    var sampleBytes: Int { bits > 8 ? 2 : 1 }
    var shift: Int { chroma == .half ? 1 : 0 }
    var planeCount: Int { chroma == .none ? 1 : 3 }

    func settings(width: Int, height: Int) -> VideoEncoder.Settings {
        var settings = VideoEncoder.Settings(
            FrameLayout(
                width: width, height: height, bits: bits, hasChroma: chroma != .none,
                chromaShift: (shift, shift), primaries: primaries, transfer: transfer,
                matrix: Self.matrix, isFullRange: true))
        settings.options = [
            ("preset", Self.preset), ("crf", "\(rate)"), ("x265-params", Self.parameters),
        ]
        return settings
    }

    /// x265's speed preset: Rendering/Encoders/MEASURED.md compares the others.
    private static let preset = "ultrafast"

    /// One thread and single pictures; no log output, and nothing in the stream but the picture.
    private static let parameters = [
        "pools=none", "frame-threads=1", "wpp=0", "total-frames=1", "rc-lookahead=0", "bframes=0",
        "keyint=1", "scenecut=0", "cutree=0",
        // The same quantiser for all tiles, whatever their content: otherwise edges between tiles would be visible.
        "qcomp=1",
        "info=0", "log-level=none", "repeat-headers=0",
    ].joined(separator: ":")
}
