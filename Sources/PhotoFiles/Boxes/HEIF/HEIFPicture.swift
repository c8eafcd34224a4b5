/// A picture of a HEIF that is coded as HEVC, in one piece or as a grid of tiles, read only from boxes.
///
/// Tiles have the same size and configuration, they cover the canvas, and all their bytes are in the file: this is checked here,
/// before anything is decoded. Sources: ISO/IEC 23008-12 §6.6.2.3.2 (`ImageGrid`), §7 (HEVC); ISO/IEC 23000-22 (MIAF) §7.3.11.4.
public struct HEIFPicture: Sendable, Equatable {
    /// Width and height of the picture, without the part of tiles beyond it.
    public let width: Int, height: Int
    public let tileWidth: Int, tileHeight: Int
    public let columns: Int, rows: Int
    /// The byte ranges of the tiles in the file, row by row; each tile may have several.
    public let tiles: [[Range<Int>]]
    public let configuration: HEVCConfiguration

    /// The longest side of a tile in pixels: the largest that a HEVC decoder must support (ITU-T H.265 table A.8, level 6.2), with
    /// a margin for encoders of stills.
    public static let tileSideMax = 32_768
    /// Most bytes of a tile.
    public static let tileBytesMax = 256 << 20
    /// Most pixels of all tiles beyond those of the picture: three times the picture's, plus this number.
    public static let paddingMax = 4 << 20

    public var isGrid: Bool { tiles.count > 1 }

    public init(item: Int, of meta: HEIFMeta, in file: inout FileWindow) throws(HEIFProblem) {
        guard let kind = meta.items[item]?.type else {
            throw .damaged("there is no item \(item)")
        }
        let ids: [Int]
        (width, height) = try Self.size(of: item, meta)
        switch kind {
        case "hvc1":
            (ids, columns, rows) = ([item], 1, 1)
            (tileWidth, tileHeight) = (width, height)
        case "grid":
            ids = meta.items(from: item, by: "dimg")
            let grid = try ImageGrid(item, meta, &file)
            (columns, rows) = (grid.columns, grid.rows)
            guard let first = ids.first, ids.count == columns * rows else {
                throw .damaged("a grid of \(columns) × \(rows) tiles names \(ids.count)")
            }
            guard grid.width == width, grid.height == height else {
                throw .damaged("the grid's size is not that of its picture")
            }
            (tileWidth, tileHeight) = try Self.size(of: first, meta)
        default:
            throw .unsupported(
                "the picture is of kind '\(kind)'; read are 'hvc1' and a 'grid' of those")
        }
        try Self.check((width, height), (tileWidth, tileHeight), (columns, rows))
        configuration = try Self.configuration(of: ids[0], meta)
        tiles = try Self.byteRanges(of: ids, meta, file.length)
        guard ids.count > 1 else { return }
        let shared = meta.properties(of: ids[0]).filter(\.describesTile)
        for id in ids.dropFirst() where meta.properties(of: id).filter(\.describesTile) != shared {
            throw .unsupported("the tiles of the grid differ in size or configuration")
        }
        guard !meta.properties(of: ids[0]).contains(where: \.isTransformative) else {
            throw .unsupported("the tiles of the grid are turned or cut")
        }
    }

    private static func size(of item: Int, _ meta: HEIFMeta) throws(HEIFProblem) -> (Int, Int) {
        for case .size(let width, let height) in meta.properties(of: item) {
            guard width > 0, height > 0 else { break }
            return (width, height)
        }
        throw .damaged("item \(item) has no size")
    }

    private static func check(
        _ size: (width: Int, height: Int), _ tile: (width: Int, height: Int),
        _ count: (columns: Int, rows: Int)
    ) throws(HEIFProblem) {
        guard max(tile.width, tile.height) <= tileSideMax else {
            throw .unsupported(
                "a tile of \(tile.width) × \(tile.height) pixels; a side may have \(tileSideMax)")
        }
        let (across, down) = (count.columns * tile.width, count.rows * tile.height)
        guard across >= size.width, down >= size.height,
            across - tile.width < size.width, down - tile.height < size.height
        else {
            throw .damaged(
                "\(count.columns) × \(count.rows) tiles of \(tile.width) × \(tile.height) do not cover "
                    + "\(size.width) × \(size.height) pixels")
        }
        guard across * down <= 4 * size.width * size.height + paddingMax else {
            throw .unsupported("the tiles have too many pixels beyond the picture")
        }
    }

    private static func configuration(of item: Int, _ meta: HEIFMeta) throws(HEIFProblem)
        -> HEVCConfiguration
    {
        guard meta.items[item]?.type == "hvc1" else {
            throw .unsupported("a grid of '\(meta.items[item]?.type ?? "")'")
        }
        for case .other("hvcC", let content) in meta.properties(of: item) {
            guard let configuration = HEVCConfiguration(content) else { break }
            guard configuration.lumaBits == configuration.chromaBits else {
                throw .unsupported(
                    "\(configuration.lumaBits) bits of luma and \(configuration.chromaBits) of chroma"
                )
            }
            return configuration
        }
        throw .damaged("item \(item) has no decoder configuration")
    }

    private static func byteRanges(of ids: [Int], _ meta: HEIFMeta, _ length: Int)
        throws(HEIFProblem)
        -> [[Range<Int>]]
    {
        var byteRanges: [[Range<Int>]] = []
        for id in ids {
            let location = meta.locations[id]
            guard meta.items[id]?.type == "hvc1", let location, !location.extents.isEmpty else {
                throw .damaged("the grid names tile \(id), which does not exist")
            }
            guard location.origin == .file else {
                throw .unsupported("coded pixels that lie in another place than the file itself")
            }
            var ranges: [Range<Int>] = []
            for extent in location.extents {
                let (end, overflows) = extent.offset.addingReportingOverflow(
                    extent.length ?? max(0, length - extent.offset))
                guard !overflows, extent.offset >= 0, end <= length, end > extent.offset else {
                    throw .damaged(
                        "the file ends at byte \(length), and tile \(id) lies beyond: it is cut off"
                    )
                }
                ranges.append(extent.offset..<end)
            }
            guard ranges.reduce(0, { $0 + $1.count }) <= tileBytesMax else {
                throw .unsupported("a tile of more than \(tileBytesMax) bytes")
            }
            byteRanges.append(ranges)
        }
        return byteRanges
    }
}

/// The data of an item `grid`.
private struct ImageGrid {
    let columns, rows, width, height: Int

    init(_ item: Int, _ meta: HEIFMeta, _ file: inout FileWindow) throws(HEIFProblem) {
        let location = meta.locations[item]
        guard let location, let extent = location.extents.first, location.extents.count == 1 else {
            throw .damaged("the grid has no data")
        }
        // Eight or twelve bytes.
        let count = min(extent.length ?? 12, 12)
        let data: ArraySlice<UInt8>
        switch location.origin {
        case .itemData: data = meta.itemData.dropFirst(extent.offset).prefix(count)
        case .file: data = file.bytes(extent.offset, count)
        case .elsewhere: throw .unsupported("a grid whose data lie in another item or file")
        }
        var cursor = ByteCursor(data)
        guard let version = cursor.number(1), let flags = cursor.number(1),
            let rows = cursor.number(1), let columns = cursor.number(1)
        else { throw .damaged("the grid's data are cut off") }
        guard version == 0 else { throw .unsupported("a grid of version \(version)") }
        let bytes = flags & 1 == 1 ? 4 : 2
        guard let width = cursor.number(bytes), let height = cursor.number(bytes) else {
            throw .damaged("the grid's data are cut off")
        }
        (self.columns, self.rows) = (columns + 1, rows + 1)
        (self.width, self.height) = (width, height)
    }
}

extension HEIFProperty {
    /// Whether it describes the decoding of a tile, which must be the same for all tiles.
    fileprivate var describesTile: Bool {
        switch self {
        case .size, .other("hvcC", _): true
        default: false
        }
    }

    fileprivate var isTransformative: Bool {
        switch self {
        case .rotation(let turns): turns != 0
        case .mirror, .other("clap", _): true
        default: false
        }
    }
}

/// A property that items share by its number.
///
/// Sources: ISO/IEC 23008-12 §6.5 (`ispe`, `pixi`, `irot`, `imir`, `auxC`), ISO/IEC 14496-12 §12.1.4 (`clap`), §12.1.5
/// (`colr`).
public enum HEIFProperty: Sendable, Equatable {
    /// Width and height of the picture before it is turned.
    case size(width: Int, height: Int)
    /// Counter-clockwise quarter turns.
    case rotation(quarterTurns: Int)
    /// A mirroring: top and bottom swapped (mode 0), or left and right (mode 1), as in the edition of 2022.
    case mirror(swapsLeftAndRight: Bool)
    case bits([Int])
    /// The meaning of codes, by the numbers of ITU-T H.273.
    case codedColour(CodedColour)
    /// An ICC profile.
    case profile(ArraySlice<UInt8>)
    case auxiliary(String)
    case other(type: String, content: ArraySlice<UInt8>)

    /// Numbers of ITU-T H.273.
    public struct CodedColour: Sendable, Equatable {
        public let primaries, transfer, matrix: Int
        public let isFullRange: Bool

        /// Makes a meaning.
        public init(primaries: Int, transfer: Int, matrix: Int, isFullRange: Bool) {
            (self.primaries, self.transfer, self.matrix) = (primaries, transfer, matrix)
            self.isFullRange = isFullRange
        }
    }

    /// Reads a property; one that is too short is ``other(type:content:)``.
    init(type: String, content: ArraySlice<UInt8>) {
        var cursor = ByteCursor(content)
        self = Self.known(type, &cursor) ?? .other(type: type, content: content)
    }

    private static func known(_ type: String, _ cursor: inout ByteCursor) -> HEIFProperty? {
        switch type {
        case "irot": return cursor.number(1).map { .rotation(quarterTurns: $0 & 3) }
        case "imir": return cursor.number(1).map { .mirror(swapsLeftAndRight: $0 & 1 == 1) }
        case "colr": return colour(&cursor)
        case "ispe", "pixi", "auxC":
            guard cursor.number(4) != nil else { return nil }
            return known(fullBox: type, &cursor)
        default: return nil
        }
    }

    private static func known(fullBox type: String, _ cursor: inout ByteCursor) -> HEIFProperty? {
        switch type {
        case "ispe":
            guard let width = cursor.number(4), let height = cursor.number(4) else { return nil }
            return .size(width: width, height: height)
        case "pixi":
            guard let count = cursor.number(1), let bits = cursor.bytes(count) else { return nil }
            return .bits(bits.map(Int.init))
        default: return .auxiliary(cursor.text())
        }
    }

    private static func colour(_ cursor: inout ByteCursor) -> HEIFProperty? {
        switch cursor.type() {
        case "nclx":
            guard let primaries = cursor.number(2), let transfer = cursor.number(2),
                let matrix = cursor.number(2), let range = cursor.number(1)
            else { return nil }
            return .codedColour(
                CodedColour(
                    primaries: primaries, transfer: transfer, matrix: matrix,
                    isFullRange: range & 0x80 != 0))
        case "prof", "rICC": return .profile(cursor.rest)
        default: return nil
        }
    }
}
