/// A HEIF that is to be written, as a value: its items, what is said of them, and how they belong together.
///
/// Bytes of pictures are no part of it. ``head(placing:length:)`` has the same length wherever they are, so a writer
/// leaves that much room, writes pictures behind it as they are made, and the head last: `meta` stands in front, as phones
/// write it, and nothing is held or moved.
public struct HEIFFile: Sendable, Equatable {
    /// An item.
    public struct Item: Sendable, Equatable {
        /// Four characters: `hvc1`, `grid`, `tmap`, `Exif`, `mime`.
        public var type: String
        /// The media type of a `mime`; empty for others.
        public var contentType = ""
        /// Whether it is not to be shown by itself.
        public var isHidden = false
        /// In the order in which they are applied.
        public var properties: [HEIFProperty] = []
        public var content = Content.media

        /// Makes an item.
        public init(
            type: String, contentType: String = "", isHidden: Bool = false,
            properties: [HEIFProperty] = [], content: Content = .media
        ) {
            (self.type, self.contentType, self.isHidden) = (type, contentType, isHidden)
            (self.properties, self.content) = (properties, content)
        }
    }

    /// The place of an item's bytes.
    public enum Content: Sendable, Equatable {
        /// In `mdat`, where ``HEIFFile/head(placing:length:)`` is told.
        case media
        /// In the box `idat`: these, which are few.
        case itemData([UInt8])
    }

    /// The first one is the major brand.
    public var brands: [String]
    /// The number of the item that is the photo.
    public var primary = 1
    public private(set) var items: [Item] = []
    public private(set) var references: [HEIFReference] = []
    public private(set) var groups: [HEIFGroup] = []

    /// Most items: their numbers have two bytes.
    public static let itemsMax = 65_535

    /// Makes a file without items.
    ///
    /// - Parameter brands: of four characters each, the major one first.
    public init(brands: [String]) { self.brands = brands }

    /// Adds an item and gives its number, by which others name it: from 1 on.
    public mutating func add(_ item: Item) -> Int {
        items.append(item)
        return items.count
    }

    /// Connects an item to others, in their order: a grid to its tiles by `dimg`, metadata by `cdsc`, a thumbnail by
    /// `thmb` and an auxiliary picture by `auxl` to what they belong to.
    public mutating func refer(_ type: String, from: Int, to items: [Int]) {
        references.append(HEIFReference(type: type, from: from, to: items))
    }

    /// Groups items, such as those of which a reader may choose (`altr`), the preferred one first.
    public mutating func group(_ type: String, _ items: [Int]) {
        groups.append(HEIFGroup(type: type, items: items))
    }
}

/// A file that HEIF's numbers cannot describe.
public struct HEIFTooLarge: Error, Sendable, Equatable, CustomStringConvertible {
    /// The number that is beyond its limit.
    public let description: String
}
