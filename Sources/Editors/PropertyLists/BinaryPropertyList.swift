import FoundationEssentials

/// Reader of Apple's binary property lists, `bplist00`.
///
/// The format is described in CoreFoundation's `CFBinaryPList.c`: objects, then a table of their offsets, then a trailer of 32
/// bytes. Numbers are big-endian. Objects refer to others by index, and several may refer to the same object or to themselves. So
/// each reference is followed separately, and counted.
struct BinaryPropertyList {
    /// The first bytes.
    static let magic = Array("bplist00".utf8)
    private static let trailerBytes = 32

    private let bytes: [UInt8]
    /// The offset of the table of offsets, after the last object.
    private let table: Int
    private let offsetBytes: Int
    private let referenceBytes: Int
    private let objectCount: Int
    private var budget = Budget()

    /// Reads the outermost object.
    static func read(_ data: Data) throws(PropertyListError) -> PropertyList {
        var list = try BinaryPropertyList([UInt8](data))
        let top = list.unsigned((list.bytes.count - 16)..<(list.bytes.count - 8))
        return try list.object(top, depth: 0)
    }

    private init(_ bytes: [UInt8]) throws(PropertyListError) {
        let trailer = bytes.count - Self.trailerBytes
        guard trailer > Self.magic.count else {
            throw PropertyListError(
                "it is cut off: \(bytes.count) bytes have no room for a trailer.")
        }
        self.bytes = bytes
        offsetBytes = Int(bytes[trailer + 6])
        referenceBytes = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes) else {
            throw PropertyListError(
                "its trailer declares \(offsetBytes) bytes for an offset and \(referenceBytes) for a "
                    + "reference; each is 1 to 8.")
        }
        let count = Self.unsigned(bytes[(trailer + 8)..<(trailer + 16)])
        let table = Self.unsigned(bytes[(trailer + 24)...])
        guard table > Self.magic.count, table < trailer, count >= 1,
            count <= (trailer - Int(table)) / offsetBytes
        else {
            throw PropertyListError(
                "its trailer declares \(count) objects with their offsets from byte \(table) on; "
                    + "that does not fit into \(bytes.count) bytes.")
        }
        objectCount = Int(count)
        self.table = Int(table)
    }

    // MARK: Objects

    private mutating func object(
        _ reference: UInt64, depth: Int
    ) throws(PropertyListError) -> PropertyList {
        try budget.enter(depth: depth)
        let start = try offset(of: reference)
        let marker = bytes[start]
        let low = Int(marker & 0x0f)
        switch marker >> 4 {
        case 0x0 where low == 8: return .boolean(false)
        case 0x0 where low == 9: return .boolean(true)
        case 0x1: return .integer(try integer(at: start))
        case 0x2 where low == 2:
            let bits = try field(start + 1, 4, of: start)
            return .real(try finite(Double(Float(bitPattern: UInt32(unsigned(bits)))), start))
        case 0x2 where low == 3: return .real(try finite(double(after: start), start))
        case 0x3 where low == 3: return .date(try date(at: start))
        case 0x4:
            let data = try content(at: start, unit: 1)
            try budget.spend(bytes: data.count)
            return .data(Data(bytes[data]))
        case 0x5: return .string(try ascii(at: start))
        case 0x6: return .string(try utf16(at: start))
        case 0x8 where low < 8: return .uid(try whole(try field(start + 1, low + 1, of: start)))
        case 0xa:
            let references = try content(at: start, unit: referenceBytes)
            var values: [PropertyList] = []
            for index in 0..<(references.count / referenceBytes) {
                values.append(try object(self.reference(index, in: references), depth: depth + 1))
            }
            return .array(values)
        case 0xd: return .dictionary(try dictionary(at: start, depth: depth))
        default:
            throw PropertyListError(
                "the object at byte \(start) is of kind 0x\(String(marker, radix: 16)), which is "
                    + "none that we read.")
        }
    }

    private mutating func dictionary(
        at start: Int, depth: Int
    ) throws(PropertyListError) -> [String: PropertyList] {
        let references = try content(at: start, unit: 2 * referenceBytes)
        let count = references.count / (2 * referenceBytes)
        var pairs: [String: PropertyList] = [:]
        for index in 0..<count {
            let key = try object(reference(index, in: references), depth: depth + 1)
            guard case .string(let name) = key else {
                throw PropertyListError(
                    "a key of the dictionary at byte \(start) is \(key.kind); expected text.")
            }
            let value = try object(reference(count + index, in: references), depth: depth + 1)
            try pairs.add(value, for: name)
        }
        return pairs
    }

    private mutating func ascii(at start: Int) throws(PropertyListError) -> String {
        let text = bytes[try content(at: start, unit: 1)]
        guard text.allSatisfy({ $0 < 0x80 }) else {
            throw PropertyListError(
                "the text at byte \(start) is declared as ASCII, but is not ASCII.")
        }
        let string = String(decoding: text, as: UTF8.self)
        try budget.spend(string)
        return string
    }

    private mutating func utf16(at start: Int) throws(PropertyListError) -> String {
        let text = bytes[try content(at: start, unit: 2)]
        let units = stride(from: text.startIndex, to: text.endIndex, by: 2).map {
            UInt16(text[$0]) << 8 | UInt16(text[$0 + 1])
        }
        guard let string = String(validating: units, as: UTF16.self) else {
            throw PropertyListError(
                "the text at byte \(start) is declared as UTF-16, but is not UTF-16.")
        }
        try budget.spend(string)
        return string
    }

    private func date(at start: Int) throws(PropertyListError) -> Date {
        let seconds = try finite(double(after: start), start)
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        guard PropertyListLimits.dates.contains(date) else {
            throw PropertyListError(
                "the date at byte \(start) is \(seconds) s from 2001 on; expected the years 1 to 9999."
            )
        }
        return date
    }

    private func finite(_ number: Double, _ start: Int) throws(PropertyListError) -> Double {
        guard number.isFinite else {
            throw PropertyListError(
                "the number at byte \(start) is \(number); expected a finite one.")
        }
        return number
    }

    // MARK: Fields

    /// Reads an integer of 2^n bytes with its marker: up to 4 bytes unsigned, more in two's complement.
    private func integer(at start: Int) throws(PropertyListError) -> Int {
        let low = Int(bytes[start] & 0x0f)
        guard bytes[start] >> 4 == 0x1, low <= 4 else {
            throw PropertyListError(
                "at byte \(start) is 0x\(String(bytes[start], radix: 16)); "
                    + "expected a whole number of 1 to 16 bytes.")
        }
        let field = try field(start + 1, 1 << low, of: start)
        guard low >= 3 else { return try whole(field) }
        let value = Int64(bitPattern: unsigned(field.suffix(8)))
        guard low == 3 || unsigned(field.prefix(8)) == (value < 0 ? UInt64.max : 0) else {
            throw PropertyListError("the number at byte \(start) has more than 64 bits.")
        }
        return Int(value)
    }

    /// Returns the content of an object whose length is in its marker or in the following number.
    ///
    /// - Parameter unit: bytes per unit of the length.
    private func content(at start: Int, unit: Int) throws(PropertyListError) -> Range<Int> {
        var count = Int(bytes[start] & 0x0f)
        var offset = start + 1
        if count == 0x0f {
            guard offset < table else { throw cutOff(start) }
            count = try integer(at: offset)
            offset += 1 + (1 << Int(bytes[offset] & 0x0f))
        }
        guard count >= 0, count <= (table - offset) / unit else { throw cutOff(start) }
        return offset..<(offset + count * unit)
    }

    private func field(
        _ offset: Int, _ count: Int, of start: Int
    ) throws(PropertyListError) -> Range<Int> {
        guard count <= table - offset else { throw cutOff(start) }
        return offset..<(offset + count)
    }

    private func cutOff(_ start: Int) -> PropertyListError {
        PropertyListError(
            "the object at byte \(start) reaches beyond the objects, which end at \(table).")
    }

    private func double(after start: Int) throws(PropertyListError) -> Double {
        Double(bitPattern: unsigned(try field(start + 1, 8, of: start)))
    }

    private func whole(_ field: Range<Int>) throws(PropertyListError) -> Int {
        let value = unsigned(field)
        guard let whole = Int(exactly: value) else {
            throw PropertyListError(
                "the number at byte \(field.lowerBound) is \(value): too large.")
        }
        return whole
    }

    private func reference(_ index: Int, in references: Range<Int>) -> UInt64 {
        let start = references.lowerBound + index * referenceBytes
        return unsigned(start..<(start + referenceBytes))
    }

    private func offset(of reference: UInt64) throws(PropertyListError) -> Int {
        guard reference < objectCount else {
            throw PropertyListError(
                "it refers to object \(reference); it has \(objectCount), counted from 0.")
        }
        let start = table + Int(reference) * offsetBytes
        let offset = unsigned(start..<(start + offsetBytes))
        guard offset >= Self.magic.count, offset < table else {
            throw PropertyListError(
                "the offset of object \(reference), byte \(offset), is outside of the objects.")
        }
        return Int(offset)
    }

    private func unsigned(_ range: Range<Int>) -> UInt64 { Self.unsigned(bytes[range]) }

    private static func unsigned(_ field: ArraySlice<UInt8>) -> UInt64 {
        field.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

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
