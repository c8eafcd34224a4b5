import FoundationEssentials

/// Writer of `bplist00` for trusted values: keys sorted and no object shared.
///
/// Objects are in the order of Python's `plistlib`: a dictionary, its keys, then its values.
struct BinaryPropertyListWriter {
    /// An object and its references.
    private enum Object {
        case leaf([UInt8])
        case container(marker: UInt8, count: Int, references: [Int])
    }

    private var objects: [Object] = []

    /// Returns the bytes of a list.
    static func bytes(of list: PropertyList) -> Data {
        var writer = BinaryPropertyListWriter()
        _ = writer.add(list)
        return writer.assembled()
    }

    private mutating func add(_ list: PropertyList) -> Int {
        let index = objects.count
        objects.append(.leaf([]))
        objects[index] = object(list)
        return index
    }

    private mutating func object(_ list: PropertyList) -> Object {
        switch list {
        case .boolean(let value): return .leaf([value ? 0x09 : 0x08])
        case .integer(let value): return .leaf(Self.integer(value))
        case .real(let value): return .leaf([0x23] + Self.bigEndian(value.bitPattern, 8))
        case .date(let value):
            let seconds = value.timeIntervalSinceReferenceDate
            return .leaf([0x33] + Self.bigEndian(seconds.bitPattern, 8))
        case .data(let value): return .leaf(Self.head(0x40, value.count) + value)
        case .string(let value):
            if value.utf8.allSatisfy({ $0 < 0x80 }) {
                return .leaf(Self.head(0x50, value.utf8.count) + value.utf8)
            }
            let units = value.utf16.flatMap { Self.bigEndian(UInt64($0), 2) }
            return .leaf(Self.head(0x60, value.utf16.count) + units)
        case .uid(let value):
            let bytes = Self.bytesNeeded(value)
            return .leaf([0x80 | UInt8(bytes - 1)] + Self.bigEndian(UInt64(value), bytes))
        case .array(let values):
            return .container(marker: 0xa0, count: values.count, references: values.map { add($0) })
        case .dictionary(let pairs):
            let pairs = pairs.sorted { $0.key < $1.key }
            let keys = pairs.map { add(.string($0.key)) }
            return .container(
                marker: 0xd0, count: pairs.count, references: keys + pairs.map { add($0.value) })
        }
    }

    private func assembled() -> Data {
        let referenceBytes = Self.bytesNeeded(objects.count - 1)
        var bytes = BinaryPropertyList.magic
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            switch object {
            case .leaf(let content): bytes += content
            case .container(let marker, let count, let references):
                bytes += Self.head(marker, count)
                bytes += references.flatMap { Self.bigEndian(UInt64($0), referenceBytes) }
            }
        }
        let table = bytes.count
        let offsetBytes = Self.bytesNeeded(table)
        bytes += offsets.flatMap { Self.bigEndian(UInt64($0), offsetBytes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetBytes), UInt8(referenceBytes)]
        let top = 0
        for number in [objects.count, top, table] { bytes += Self.bigEndian(UInt64(number), 8) }
        return Data(bytes)
    }

    private static func head(_ marker: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [marker | UInt8(count)] : [marker | 0x0f] + integer(count)
    }

    /// Encodes an integer. Numbers of up to 4 bytes are unsigned in this format, so negative ones have 8.
    private static func integer(_ value: Int) -> [UInt8] {
        let bytes = value < 0 ? 8 : bytesNeeded(value)
        return [0x10 | UInt8(bytes.trailingZeroBitCount)]
            + bigEndian(UInt64(bitPattern: Int64(value)), bytes)
    }

    /// Returns 1, 2, 4 or 8.
    private static func bytesNeeded(_ value: Int) -> Int {
        value < 1 << 8 ? 1 : value < 1 << 16 ? 2 : value < 1 << 32 ? 4 : 8
    }

    private static func bigEndian(_ value: UInt64, _ bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }
}
