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

        /// Makes an item.
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

    /// The brands, the major one first.
    public var brands: [String]
    /// The number of the photo's item.
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
