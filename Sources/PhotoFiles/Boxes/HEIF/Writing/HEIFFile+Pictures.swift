/// A picture coded as HEVC: in one piece, or in tiles of one size from left to right and from top to bottom, of which the last ones
/// may exceed the picture.
public struct HEIFCodedPicture: Sendable, Equatable {
    public var width: Int, height: Int
    public var tileWidth: Int, tileHeight: Int
    /// The content of `hvcC`, the same for all tiles.
    public var configuration: [UInt8]
    /// Bits of each channel.
    public var bits: [Int]
    /// The meaning of codes: ``HEIFProperty/codedColour(_:)`` or ``HEIFProperty/profile(_:)``, for tiles and picture.
    public var colour: [HEIFProperty]

    /// Makes a picture.
    public init(
        width: Int, height: Int, tileWidth: Int, tileHeight: Int, configuration: [UInt8],
        bits: [Int], colour: [HEIFProperty] = []
    ) {
        (self.width, self.height) = (width, height)
        (self.tileWidth, self.tileHeight) = (tileWidth, tileHeight)
        (self.configuration, self.bits, self.colour) = (configuration, bits, colour)
    }

    /// Most columns and rows: their counts have one byte.
    public static let tilesMax = 256

    public var columns: Int { (width + tileWidth - 1) / tileWidth }
    public var rows: Int { (height + tileHeight - 1) / tileHeight }
    /// Whether it is a grid. A single tile of the picture's size is the picture itself.
    public var isGrid: Bool { (width, height) != (tileWidth, tileHeight) }
}

extension HEIFFile {
    /// The items of a picture.
    public struct AddedPicture: Sendable, Equatable {
        /// The item to which others refer: the grid, or the coded picture.
        public let item: Int
        /// The items with coded bytes, row by row.
        public let coded: [Int]
    }

    /// Adds a picture: hidden tiles and their grid, or one item.
    ///
    /// - Parameters:
    ///   - properties: properties of the whole picture besides size, bits and colour: `auxC`, `clli`, `irot`.
    public mutating func add(
        _ picture: HEIFCodedPicture, isHidden: Bool = false, properties: [HEIFProperty] = []
    ) -> AddedPicture {
        let coding =
            picture.colour + [
                .other(type: "hvcC", content: picture.configuration[...]),
                .size(width: picture.tileWidth, height: picture.tileHeight),
            ]
        guard picture.isGrid else {
            let item = add(
                Item(
                    type: "hvc1", isHidden: isHidden,
                    properties: coding + [.bits(picture.bits)] + properties))
            return AddedPicture(item: item, coded: [item])
        }
        var tiles: [Int] = []
        for _ in 0..<picture.columns * picture.rows {
            tiles.append(add(Item(type: "hvc1", isHidden: true, properties: coding)))
        }
        let whole = HEIFProperty.size(width: picture.width, height: picture.height)
        let grid = add(
            Item(
                type: "grid", isHidden: isHidden,
                properties: picture.colour + [whole, .bits(picture.bits)] + properties,
                content: .itemData(Self.grid(picture))))
        refer("dimg", from: grid, to: tiles)
        return AddedPicture(item: grid, coded: tiles)
    }

    /// The structure `ImageGrid` (ISO/IEC 23008-12 §6.6.2.3.2).
    private static func grid(_ picture: HEIFCodedPicture) -> [UInt8] {
        var data = ByteWriter()
        let isLong = max(picture.width, picture.height) > 65_535
        data.add(0, 1)
        data.add(isLong ? 1 : 0, 1)
        data.add(picture.rows - 1, 1)
        data.add(picture.columns - 1, 1)
        data.add(picture.width, isLong ? 4 : 2)
        data.add(picture.height, isLong ? 4 : 2)
        return data.bytes
    }

    /// Adds EXIF of an item; its bytes are those of ``exifItem(_:)``. Returns its number.
    public mutating func addExif(of item: Int) -> Int {
        let exif = add(Item(type: "Exif", isHidden: true))
        refer("cdsc", from: exif, to: [item])
        return exif
    }

    /// Adds an XMP packet of an item. Returns its number.
    public mutating func addXMP(of item: Int) -> Int {
        let xmp = add(Item(type: "mime", contentType: "application/rdf+xml", isHidden: true))
        refer("cdsc", from: xmp, to: [item])
        return xmp
    }

    /// Returns the bytes of an item `Exif`: the number of bytes before the TIFF structure, and these bytes, `Exif` and two zeros,
    /// as phones write them (ISO/IEC 23008-12 §A.2.1).
    public static func exifItem(_ tiff: [UInt8]) -> [UInt8] {
        [0, 0, 0, 6] + Array("Exif\0\0".utf8) + tiff
    }
}
