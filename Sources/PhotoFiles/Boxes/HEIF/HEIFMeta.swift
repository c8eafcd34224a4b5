/// The box `meta` of a HEIF as values: its items, their locations and their properties.
///
/// Sources: ISO/IEC 14496-12 §8.11 (`meta`, `pitm`, `iinf`, `iloc`, `iref`, `idat`, `iprp`, `grpl`), ISO/IEC 23008-12 §9.3 (`ipco`,
/// `ipma`). The reader does not validate: it skips unreadable parts and clears ``isWhole``.
public struct HEIFMeta: Sendable {
    public private(set) var primary: Int?
    public private(set) var items: [Int: HEIFItem] = [:]
    public private(set) var locations: [Int: HEIFLocation] = [:]
    public private(set) var references: [HEIFReference] = []
    public private(set) var groups: [HEIFGroup] = []
    /// All properties; items refer to them by index, from 1 on.
    public private(set) var properties: [HEIFProperty] = []
    /// The content of `idat`.
    public private(set) var itemData: ArraySlice<UInt8> = []
    /// Whether all of it was read: nothing exceeds a limit, is truncated or has an unknown version.
    public private(set) var isWhole = true
    private var associations: [Int: [Int]] = [:]
    /// Indices in ``references`` by the referring item: a file may have tens of thousands.
    private var referencesByItem: [Int: [Int]] = [:]

    /// Most items. Source: a photo of 200 MP of a Galaxy S24 has 822, most of them tiles.
    public static let itemsMax = 65_536
    /// Most parts of one item's bytes.
    public static let extentsMax = 1_024
    /// Most properties, references and groups, and most items in one of them.
    public static let entriesMax = 65_536
    /// Most properties of one item.
    public static let associationsMax = 64

    /// Reads the content of a `meta`, version and flags included.
    public init(_ content: [UInt8]) {
        for box in children(content[...].dropFirst(4)) {
            switch box.type {
            case "pitm": readPrimary(box.content)
            case "iinf": readItems(box.content)
            case "iloc":
                locations = HEIFLocation.locations(
                    in: box.content, atMost: (Self.itemsMax, Self.extentsMax), isWhole: &isWhole)
            case "iref": readReferences(box.content)
            case "iprp": readProperties(box.content)
            case "idat": itemData = box.content
            case "grpl": readGroups(box.content)
            default: break
            }
        }
    }

    /// Most bytes of a `meta` that ``init(of:)`` reads.
    public static let bytesMax = 16 << 20

    /// Reads the `meta` of a file; nil if there is none, or a longer one.
    public init?(of file: inout FileWindow) {
        guard let box = file.firstBox("meta", in: 0..<file.length),
            box.content.count <= Self.bytesMax
        else { return nil }
        self.init(file.all(box.content))
    }

    /// Returns the properties of an item, in the order in which they are applied.
    public func properties(of item: Int) -> [HEIFProperty] {
        (associations[item] ?? []).compactMap {
            properties.indices.contains($0 - 1) ? properties[$0 - 1] : nil
        }
    }

    /// Returns the items to which an item refers by a type, in their order.
    public func items(from item: Int, by type: String) -> [Int] {
        (referencesByItem[item] ?? []).flatMap {
            references[$0].type == type ? references[$0].to : []
        }
    }

    public func items(to item: Int, by type: String) -> [Int] {
        references.filter { $0.type == type && $0.to.contains(item) }.map(\.from)
    }

    // MARK: Reading

    private typealias Child = (type: String, content: ArraySlice<UInt8>)

    /// Returns the boxes in some bytes.
    private mutating func children(_ bytes: ArraySlice<UInt8>) -> [Child] {
        var window = FileWindow(Array(bytes))
        let boxes = window.boxes(in: 0..<bytes.count, atMost: Self.entriesMax)
        if boxes.contains(where: \.isCutOff) || boxes.last?.range.upperBound ?? 0 < bytes.count {
            isWhole = false
        }
        return boxes.map { box in
            (box.type, bytes.dropFirst(box.content.lowerBound).prefix(box.content.count))
        }
    }

    private mutating func readPrimary(_ box: ArraySlice<UInt8>) {
        var cursor = ByteCursor(box)
        guard let version = cursor.number(1), cursor.number(3) != nil,
            let item = cursor.number(version == 0 ? 2 : 4)
        else { return isWhole = false }
        primary = item
    }

    private mutating func readItems(_ box: ArraySlice<UInt8>) {
        guard let version = box.first else { return isWhole = false }
        for entry in children(box.dropFirst(version == 0 ? 6 : 8)) where entry.type == "infe" {
            guard items.count < Self.itemsMax, let item = HEIFItem(entry: entry.content),
                items[item.id] == nil
            else {
                isWhole = false
                continue
            }
            items[item.id] = item
        }
    }

    private mutating func readReferences(_ box: ArraySlice<UInt8>) {
        guard let version = box.first else { return isWhole = false }
        let idBytes = version == 0 ? 2 : 4
        for entry in children(box.dropFirst(4)) {
            var cursor = ByteCursor(entry.content)
            guard let from = cursor.number(idBytes), let to = numbers(&cursor, 2, of: idBytes)
            else {
                isWhole = false
                continue
            }
            referencesByItem[from, default: []].append(references.count)
            references.append(HEIFReference(type: entry.type, from: from, to: to))
        }
    }

    private mutating func readGroups(_ box: ArraySlice<UInt8>) {
        for entry in children(box) {
            var cursor = ByteCursor(entry.content)
            guard cursor.number(4) != nil, cursor.number(4) != nil,
                let items = numbers(&cursor, 4, of: 4)
            else {
                isWhole = false
                continue
            }
            groups.append(HEIFGroup(type: entry.type, items: items))
        }
    }

    /// Reads a count and that many numbers; nil if there are fewer.
    private func numbers(_ cursor: inout ByteCursor, _ countBytes: Int, of bytes: Int) -> [Int]? {
        guard let count = cursor.number(countBytes), count <= Self.entriesMax else { return nil }
        var numbers: [Int] = []
        for _ in 0..<count {
            guard let number = cursor.number(bytes) else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    private mutating func readProperties(_ box: ArraySlice<UInt8>) {
        for part in children(box) {
            switch part.type {
            case "ipco":
                properties = children(part.content).map {
                    HEIFProperty(type: $0.type, content: $0.content)
                }
            case "ipma": readAssociations(part.content)
            default: break
            }
        }
    }

    private mutating func readAssociations(_ box: ArraySlice<UInt8>) {
        var cursor = ByteCursor(box)
        guard let version = cursor.number(1), let flags = cursor.number(3),
            let count = cursor.number(4)
        else { return isWhole = false }
        let width = flags & 1 == 1 ? 2 : 1
        for _ in 0..<count {
            guard associations.count < Self.itemsMax,
                let item = cursor.number(version == 0 ? 2 : 4),
                let propertyCount = cursor.number(1), propertyCount <= Self.associationsMax
            else { return isWhole = false }
            for _ in 0..<propertyCount {
                guard let property = cursor.number(width) else { return isWhole = false }
                // The highest bit marks an essential property.
                associations[item, default: []].append(property & (width == 2 ? 0x7FFF : 0x7F))
            }
        }
    }
}

/// An item of a HEIF: a coded picture, a picture derived from others, or metadata.
///
/// Source: ISO/IEC 14496-12 §8.11.6 (`infe`).
public struct HEIFItem: Sendable, Equatable {
    public let id: Int
    /// Its type: `hvc1`, `av01`, `grid`, `tmap`, `Exif`, `mime`.
    public let type: String
    /// Whether it is not displayed by itself, like the tiles of a grid.
    public let isHidden: Bool
    /// The media type of an item of type `mime`; empty for others.
    public let contentType: String

    /// Whether it is EXIF, XMP or other metadata, and no picture.
    public var isMetadata: Bool { type == "Exif" || type == "mime" }
}

extension HEIFItem {
    /// Reads the content of an `infe`; nil for versions before 2, which have no types.
    init?(entry: ArraySlice<UInt8>) {
        var cursor = ByteCursor(entry)
        guard let version = cursor.number(1), version >= 2, let flags = cursor.number(3),
            let id = cursor.number(version == 2 ? 2 : 4), cursor.number(2) != nil,
            let type = cursor.type()
        else { return nil }
        (self.id, self.type, isHidden) = (id, type, flags & 1 == 1)
        _ = cursor.text()
        contentType = type == "mime" ? cursor.text() : ""
    }
}

/// A reference from one item to others, in their order.
///
/// Source: ISO/IEC 14496-12 §8.11.12 (`iref`). `dimg` refers from a grid to its tiles, and `thmb` from a thumbnail, `auxl` from an
/// auxiliary picture and `cdsc` from metadata to their picture.
public struct HEIFReference: Sendable, Equatable {
    public let type: String
    public let from: Int
    public let to: [Int]
}

/// A group of items, such as alternatives for readers (`altr`), the preferred one first.
///
/// Source: ISO/IEC 14496-12 §8.18 (`grpl`).
public struct HEIFGroup: Sendable, Equatable {
    public let type: String
    public let items: [Int]
}

extension HEIFMeta {
    /// Most bytes of an item that are read whole, such as EXIF or XMP, which ``PhotoSurvey`` has counted before.
    public static let itemBytesMax = 64 << 20

    /// Returns the bytes of a small item, at most ``itemBytesMax``; nil if there are none, or they are elsewhere.
    public func bytes(of item: Int, in file: inout FileWindow) -> [UInt8]? {
        guard let location = locations[item] else { return nil }
        var found: [UInt8] = []
        for extent in location.extents {
            let room = Self.itemBytesMax - found.count
            switch location.origin {
            case .file:
                let count = min(file.existing(extent.length ?? .max, from: extent.offset), room)
                found += file.all(extent.offset..<extent.offset + count)
            case .itemData:
                found += itemData.dropFirst(extent.offset).prefix(
                    min(extent.length ?? .max, room))
            case .elsewhere: return nil
            }
        }
        return found.isEmpty ? nil : found
    }
}

/// The location of an item's bytes.
///
/// Source: ISO/IEC 14496-12 §8.11.3 (`iloc`).
public struct HEIFLocation: Sendable, Equatable {
    /// The origin of offsets.
    public enum Origin: Sendable, Equatable {
        case file
        /// The content of the box `idat`.
        case itemData
        /// Another item's bytes, or another file: no phone writes this.
        case elsewhere
    }

    public let origin: Origin
    /// The parts of its bytes, in order, relative to the origin. A file may declare bytes that it does not have.
    public let extents: [Extent]

    /// A part of an item's bytes.
    public struct Extent: Sendable, Equatable {
        public let offset: Int
        /// Its length; nil if the table has no lengths, which means all remaining bytes.
        public let length: Int?
    }
}

extension HEIFLocation {
    /// Reads a full box `iloc`.
    ///
    /// - Parameters:
    ///   - max: most items, and most extents of each.
    ///   - isWhole: set to false if not all of it could be read.
    static func locations(
        in box: ArraySlice<UInt8>, atMost max: (items: Int, extents: Int), isWhole: inout Bool
    ) -> [Int: HEIFLocation] {
        var cursor = ByteCursor(box)
        var locations: [Int: HEIFLocation] = [:]
        guard let version = cursor.number(1), version < 3, cursor.number(3) != nil,
            let sizes = cursor.number(2), let count = cursor.number(version < 2 ? 2 : 4)
        else {
            isWhole = false
            return [:]
        }
        let layout = Layout(version: version, sizes: sizes)
        for _ in 0..<count {
            guard locations.count < max.items,
                let (id, location) = layout.next(&cursor, atMost: max.extents)
            else {
                isWhole = false
                break
            }
            // The first entry of an item takes precedence.
            locations[id] = locations[id] ?? location
        }
        return locations
    }

    /// The sizes in bytes of the numbers in an `iloc`.
    private struct Layout {
        let version, offset, length, base, index: Int

        init(version: Int, sizes: Int) {
            self.version = version
            (offset, length, base) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
            index = version == 0 ? 0 : sizes & 15
        }

        func next(_ cursor: inout ByteCursor, atMost max: Int) -> (Int, HEIFLocation)? {
            guard [offset, length, base, index].allSatisfy({ [0, 4, 8].contains($0) }),
                let id = cursor.number(version < 2 ? 2 : 4),
                let method = version == 0 ? 0 : cursor.number(2), let file = cursor.number(2),
                let start = cursor.number(base), let count = cursor.number(2),
                // Numbers of zero bytes could repeat without using any bytes of the file.
                count <= (offset + length + index == 0 ? 1 : max)
            else { return nil }
            var extents: [HEIFLocation.Extent] = []
            for _ in 0..<count {
                guard cursor.number(index) != nil, let extentOffset = cursor.number(offset),
                    let bytes = cursor.number(length)
                else { return nil }
                let (sum, overflows) = start.addingReportingOverflow(extentOffset)
                guard !overflows else { return nil }
                extents.append(Extent(offset: sum, length: self.length == 0 ? nil : bytes))
            }
            let origins: [Origin] = [.file, .itemData]
            let kind = method & 15
            let origin = file == 0 && kind < origins.count ? origins[kind] : .elsewhere
            return (id, HEIFLocation(origin: origin, extents: extents))
        }
    }
}
