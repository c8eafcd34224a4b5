/// The box `meta` of a HEIF as values: its items, their locations and their properties.
///
/// Sources: ISO/IEC 14496-12 §8.11 (`meta`, `pitm`, `iinf`, `iloc`, `iref`, `idat`, `iprp`, `grpl`), ISO/IEC 23008-12 §9.3 (`ipco`,
/// `ipma`). The reader does not validate: it skips unreadable parts and clears ``isWhole``.
public struct HEIFMeta: Sendable {
    /// The item of the photo.
    public private(set) var primary: Int?
    /// Items by number.
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

    /// Returns the items that refer to an item by a type.
    public func items(to item: Int, by type: String) -> [Int] {
        references.filter { $0.type == type && $0.to.contains(item) }.map(\.from)
    }

    // MARK: Reading

    private typealias Child = (type: String, content: ArraySlice<UInt8>)

    /// Returns the boxes in some bytes.
    private mutating func children(_ bytes: ArraySlice<UInt8>) -> [Child] {
        var window = FileWindow(length: bytes.count) { offset, count in
            Array(bytes.dropFirst(offset).prefix(count))
        }
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
