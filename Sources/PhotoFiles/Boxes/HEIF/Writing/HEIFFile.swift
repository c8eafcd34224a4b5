/// A HEIF to be written, as a value: its items, their properties and their references.
///
/// Bytes of pictures are not part of it. ``head(mediaRanges:length:)`` has the same length for all placements. So a writer reserves
/// that space, writes pictures after it as they are encoded, and writes the head last: `meta` comes first, as phones write it, and
/// nothing is buffered or moved.
public struct HEIFFile: Sendable, Equatable {
    /// An item.
    public struct Item: Sendable, Equatable {
        /// Four characters: `hvc1`, `grid`, `tmap`, `Exif`, `mime`.
        public var type: String
        /// The media type of a `mime`; empty for others.
        public var contentType = ""
        /// Whether it is not displayed by itself.
        public var isHidden = false
        /// The properties in the order in which they are applied.
        public var properties: [HEIFProperty] = []
        public var content = Content.media

        public init(
            type: String, contentType: String = "", isHidden: Bool = false,
            properties: [HEIFProperty] = [], content: Content = .media
        ) {
            (self.type, self.contentType, self.isHidden) = (type, contentType, isHidden)
            (self.properties, self.content) = (properties, content)
        }
    }

    /// The location of an item's bytes.
    public enum Content: Sendable, Equatable {
        /// In `mdat`, at an offset that ``HEIFFile/head(mediaRanges:length:)`` receives.
        case media
        /// These few bytes, in the box `idat`.
        case itemData([UInt8])
    }

    public var brands: [String]
    public var primary = 1
    public private(set) var items: [Item] = []
    public private(set) var references: [HEIFReference] = []
    public private(set) var groups: [HEIFGroup] = []

    /// Most items: their numbers have two bytes.
    public static let itemsMax = 65_535

    /// Makes a file without items.
    ///
    /// - Parameter brands: four characters each, the major one first.
    public init(brands: [String]) { self.brands = brands }

    /// Adds an item and returns its number, by which references name it: from 1 on.
    public mutating func add(_ item: Item) -> Int {
        items.append(item)
        return items.count
    }

    /// Adds references from an item to others, in their order: from a grid to its tiles by `dimg`, and from metadata by `cdsc`, a
    /// thumbnail by `thmb` and an auxiliary picture by `auxl` to their picture.
    public mutating func refer(_ type: String, from: Int, to items: [Int]) {
        references.append(HEIFReference(type: type, from: from, to: items))
    }

    /// Groups items, such as alternatives for readers (`altr`), the preferred one first.
    public mutating func group(_ type: String, _ items: [Int]) {
        groups.append(HEIFGroup(type: type, items: items))
    }
}

/// An error for a file beyond HEIF's number ranges.
public struct HEIFTooLarge: Error, Sendable, Equatable, CustomStringConvertible {
    /// The number that exceeds its limit.
    public let description: String
}

extension HEIFFile {
    /// The length of ``head(mediaRanges:length:)``, the same for all placements.
    public var headLength: Int { head { _ in 0..<0 }.count + Self.mediaHeader }

    private static let mediaHeader = 8

    /// Returns all bytes before the pictures: `ftyp`, `meta`, and the header of an `mdat` that extends to the end of the file.
    ///
    /// - Parameters:
    ///   - mediaRanges: the byte ranges in the file of the items with content ``Content/media``, by their numbers.
    ///   - length: the length of the whole file.
    /// - Throws: an error if a number exceeds its four bytes, or an item number its two.
    public func head(
        mediaRanges: [Int: Range<Int>], length: Int
    ) throws(HEIFTooLarge) -> [UInt8] {
        guard items.count <= Self.itemsMax else {
            throw HEIFTooLarge(
                description: "a HEIF of \(items.count) items; \(Self.itemsMax) can be written")
        }
        guard length <= Int(UInt32.max) else {
            throw HEIFTooLarge(
                description: "a HEIF of \(length) bytes; \(UInt32.max) can be written")
        }
        var bytes = ByteWriter()
        bytes.add(head { mediaRanges[$0] ?? 0..<0 })
        bytes.add(length - bytes.bytes.count, 4)
        bytes.add("mdat")
        return bytes.bytes
    }

    /// `ftyp` and `meta` (ISO/IEC 14496-12 §4.3, §8.11).
    private func head(_ mediaRange: (Int) -> Range<Int>) -> [UInt8] {
        var bytes = ByteWriter()
        bytes.box("ftyp") { box in
            box.add(brands.first ?? "mif1")
            box.add(0, 4)
            for brand in brands { box.add(brand) }
        }
        bytes.fullBox("meta") { meta in
            meta.fullBox("hdlr") { box in
                box.add(0, 4)
                box.add("pict")
                box.add([UInt8](repeating: 0, count: 13))
            }
            meta.fullBox("pitm") { $0.add(primary, 2) }
            addItems(to: &meta)
            addReferences(to: &meta)
            addProperties(to: &meta)
            addGroups(to: &meta)
            addItemData(to: &meta)
            addLocations(to: &meta, mediaRange)
        }
        return bytes.bytes
    }

    private func addItems(to meta: inout ByteWriter) {
        meta.fullBox("iinf") { box in
            box.add(items.count, 2)
            for (index, item) in items.enumerated() {
                box.fullBox("infe", version: 2, flags: item.isHidden ? 1 : 0) { entry in
                    entry.add(index + 1, 2)
                    // Not protected.
                    entry.add(0, 2)
                    entry.add(item.type)
                    // No name.
                    entry.add(0, 1)
                    guard item.type == "mime" else { return }
                    entry.add(item.contentType)
                    entry.add(0, 1)
                }
            }
        }
    }

    private func addReferences(to meta: inout ByteWriter) {
        guard !references.isEmpty else { return }
        meta.fullBox("iref") { box in
            for reference in references {
                box.box(reference.type) { entry in
                    entry.add(reference.from, 2)
                    entry.add(reference.to.count, 2)
                    for item in reference.to { entry.add(item, 2) }
                }
            }
        }
    }

    /// Writes each property once, and the list of an item's properties (ISO/IEC 23008-12 §9.3).
    private func addProperties(to meta: inout ByteWriter) {
        var shared: [HEIFProperty] = []
        var associations: [(item: Int, properties: [(index: Int, isEssential: Bool)])] = []
        for (index, item) in items.enumerated() where !item.properties.isEmpty {
            let properties = item.properties.map { property in
                let known = shared.firstIndex(of: property)
                if known == nil { shared.append(property) }
                return ((known ?? shared.count - 1) + 1, property.isEssential)
            }
            associations.append((index + 1, properties))
        }
        let isWide = shared.count > 0x7F
        meta.box("iprp") { iprp in
            iprp.box("ipco") { box in
                for property in shared { property.add(to: &box) }
            }
            iprp.fullBox("ipma", flags: isWide ? 1 : 0) { box in
                box.add(associations.count, 4)
                for (item, properties) in associations {
                    box.add(item, 2)
                    box.add(properties.count, 1)
                    for (index, isEssential) in properties {
                        let bit = isEssential ? (isWide ? 0x8000 : 0x80) : 0
                        box.add(index | bit, isWide ? 2 : 1)
                    }
                }
            }
        }
    }

    private func addGroups(to meta: inout ByteWriter) {
        guard !groups.isEmpty else { return }
        meta.box("grpl") { box in
            for (index, group) in groups.enumerated() {
                box.fullBox(group.type) { entry in
                    // Groups and items share one number space.
                    entry.add(items.count + 1 + index, 4)
                    entry.add(group.items.count, 4)
                    for item in group.items { entry.add(item, 4) }
                }
            }
        }
    }

    private func addItemData(to meta: inout ByteWriter) {
        let data = items.flatMap(\.itemData)
        guard !data.isEmpty else { return }
        meta.box("idat") { $0.add(data) }
    }

    /// Writes one extent for each item; version 1, for the items in `idat` (construction method 1).
    private func addLocations(to meta: inout ByteWriter, _ mediaRange: (Int) -> Range<Int>) {
        var dataOffset = 0
        meta.fullBox("iloc", version: 1) { box in
            // Offsets and lengths of four bytes, no base offset.
            box.add(0x4400, 2)
            box.add(items.count, 2)
            for (index, item) in items.enumerated() {
                let data = item.itemData
                let isInside = item.content != .media
                let range = isInside ? dataOffset..<dataOffset + data.count : mediaRange(index + 1)
                dataOffset += data.count
                box.add(index + 1, 2)
                box.add(isInside ? 1 : 0, 2)
                // In this file.
                box.add(0, 2)
                box.add(1, 2)
                box.add(range.lowerBound, 4)
                box.add(range.count, 4)
            }
        }
    }
}

extension HEIFFile.Item {
    fileprivate var itemData: [UInt8] {
        if case .itemData(let bytes) = content { bytes } else { [] }
    }
}

/// A picture coded as HEVC: in one piece, or in tiles of one size from left to right and from top to bottom, of which the last ones
/// may exceed the picture.
public struct HEIFCodedPicture: Sendable, Equatable {
    public var width: Int, height: Int
    public var tileWidth: Int, tileHeight: Int
    /// The content of `hvcC`, the same for all tiles.
    public var configuration: [UInt8]
    public var bits: [Int]
    /// The meaning of codes: ``HEIFProperty/codedColour(_:)`` or ``HEIFProperty/profile(_:)``, for tiles and picture.
    public var colour: [HEIFProperty]

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
