/// A HEIC or AVIF with arbitrary boxes around tiles that another program has encoded.
public struct SyntheticHEIC: Sendable {
    /// How the tiles are coded.
    public enum Codec: Sendable {
        case hevc, av1

        var brand: String { self == .hevc ? "heic" : "avif" }
        var item: String { self == .hevc ? "hvc1" : "av01" }
        var configuration: String { self == .hevc ? "hvcC" : "av1C" }
    }

    /// A coded picture.
    public struct Tile: Sendable {
        /// The content of the picture's `hvcC` or `av1C`.
        public var configuration: [UInt8]
        public var unit: [UInt8]
        public var width: Int, height: Int

        public init(configuration: [UInt8], unit: [UInt8], width: Int, height: Int) {
            (self.configuration, self.unit) = (configuration, unit)
            (self.width, self.height) = (width, height)
        }
    }

    public var codec = Codec.hevc
    /// The tiles, row by row; without a grid, the only tile is the photo.
    public var tiles: [Tile]
    public var columns = 1, rows = 1
    public var width: Int, height: Int
    public var isGrid: Bool
    /// Boxes of the primary item beside its size: `irot`, `imir`, `clap`, `colr`, in order.
    public var properties: [[UInt8]] = []
    public var alpha: Tile?
    /// Whether the file declares that colours are multiplied by alpha.
    public var isPremultiplied = false
    /// A false type of the primary item; nil for the true one.
    public var kind: String?

    /// Creates a photo of one picture.
    public init(_ tile: Tile) {
        (tiles, width, height, isGrid) = ([tile], tile.width, tile.height, false)
    }

    /// Creates a photo of a grid of tiles.
    public init(_ tiles: [Tile], columns: Int, width: Int, height: Int) {
        (self.tiles, self.columns) = (tiles, columns)
        rows = tiles.count / columns
        (self.width, self.height, isGrid) = (width, height, true)
    }

    private static func full(_ type: String, _ content: [UInt8]) -> [UInt8] {
        Bytes.box(type, Bytes.big(0) + content)
    }

    private static func size(_ width: Int, _ height: Int) -> [UInt8] {
        full("ispe", Bytes.big(width) + Bytes.big(height))
    }

    /// The bytes of the file.
    public var bytes: [UInt8] {
        // An offset always has four bytes, so the list has the same length with the true offsets.
        let length = file(unitsFrom: 0).meta.count
        let head = Bytes.box(
            "ftyp",
            Bytes.text(codec.brand) + Bytes.big(0) + Bytes.text("mif1" + codec.brand))
        let made = file(unitsFrom: head.count + length + 8)
        return head + made.meta + Bytes.box("mdat", made.units)
    }

    private func file(unitsFrom start: Int) -> (meta: [UInt8], units: [UInt8]) {
        let coded = tiles + (alpha.map { [$0] } ?? [])
        let primary = isGrid ? coded.count + 1 : 1
        var shared: [[UInt8]] = []
        var associations: [(item: Int, indices: [Int])] = []
        func propertyIndex(_ property: [UInt8]) -> Int {
            if let known = shared.firstIndex(of: property) { return known + 1 }
            shared.append(property)
            return shared.count
        }
        for (index, tile) in coded.enumerated() {
            var indices = [
                propertyIndex(Bytes.box(codec.configuration, tile.configuration)),
                propertyIndex(Self.size(tile.width, tile.height)),
            ]
            if index == tiles.count {
                indices.append(
                    propertyIndex(Self.full("auxC", Bytes.text("urn:mpeg:hevc:2015:auxid:1\0"))))
            } else if !isGrid {
                indices += properties.map(propertyIndex)
            }
            associations.append((index + 1, indices))
        }
        if isGrid {
            associations.append(
                (primary, [propertyIndex(Self.size(width, height))] + properties.map(propertyIndex))
            )
        }
        var offset = start
        var locations: [UInt8] = []
        for (index, tile) in coded.enumerated() {
            locations +=
                Bytes.big(index + 1, 2) + [0, 0, 0, 0, 0, 1] + Bytes.big(offset)
                + Bytes.big(tile.unit.count)
            offset += tile.unit.count
        }
        var items: [UInt8] = []
        for index in coded.indices {
            let isHidden = isGrid && index < tiles.count
            items += Self.entry(
                index + 1, kind.flatMap { isGrid ? nil : $0 } ?? codec.item, isHidden: isHidden)
        }
        var references: [UInt8] = []
        if isGrid {
            items += Self.entry(primary, kind ?? "grid", isHidden: false)
            // Construction method 1: the data are in `idat`.
            locations += Bytes.big(primary, 2) + [0, 1, 0, 0, 0, 1] + Bytes.big(0) + Bytes.big(8)
            references += Bytes.box(
                "dimg",
                Bytes.big(primary, 2) + Bytes.big(tiles.count, 2)
                    + tiles.indices.flatMap { Bytes.big($0 + 1, 2) })
        }
        if alpha != nil {
            references += Bytes.box(
                "auxl", Bytes.big(coded.count, 2) + [0, 1] + Bytes.big(primary, 2))
            if isPremultiplied {
                references += Bytes.box(
                    "prem", Bytes.big(primary, 2) + [0, 1] + Bytes.big(coded.count, 2))
            }
        }
        let counts = associations.flatMap { association in
            Bytes.big(association.item, 2) + [UInt8(association.indices.count)]
                + association.indices.map(UInt8.init)
        }
        let grid =
            [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + Bytes.big(width, 2) + Bytes.big(height, 2)
        let handler = Bytes.big(0) + Bytes.text("pict") + [UInt8](repeating: 0, count: 13)
        let meta =
            Self.full("hdlr", handler) + Self.full("pitm", Bytes.big(primary, 2))
            + Bytes.box(
                "iloc",
                [1, 0, 0, 0, 0x44, 0] + Bytes.big(coded.count + (isGrid ? 1 : 0), 2) + locations)
            + Self.full("iinf", Bytes.big(coded.count + (isGrid ? 1 : 0), 2) + items)
            + (references.isEmpty ? [] : Self.full("iref", references))
            + Bytes.box(
                "iprp",
                Bytes.box("ipco", shared.flatMap(\.self))
                    + Self.full("ipma", Bytes.big(associations.count) + counts))
            + (isGrid ? Bytes.box("idat", grid) : [])
        return (Self.full("meta", meta), coded.flatMap(\.unit))
    }

    private static func entry(_ id: Int, _ type: String, isHidden: Bool) -> [UInt8] {
        Bytes.box(
            "infe",
            [2, 0, 0, isHidden ? 1 : 0] + Bytes.big(id, 2) + [0, 0] + Bytes.text(type + "\0"))
    }
}
