/// TIFF directories in memory, read within bounds and written in place (TIFF 6.0 §2).
public struct TIFFBytes: Sendable {
    /// All bytes, from the byte-order mark on.
    public internal(set) var bytes: [UInt8]
    /// The offset of the first directory.
    public let firstDirectory: Int

    let isBigEndian: Bool
    private static let entryLength = 12

    /// One entry of a directory.
    public struct Entry: Sendable {
        /// The number that identifies the value's meaning.
        public let tag: Int
        let type: Int
        let count: Int
        /// The offset of the entry's twelve bytes.
        let offset: Int
    }

    /// A list of entries.
    public struct Directory: Sendable {
        /// The entries in the order of the file.
        public let entries: [Entry]
        /// The offset of the next directory; 0 if there is none.
        public let next: Int
        /// Count, entries and the link to the next directory.
        let range: Range<Int>

        public subscript(tag: Int) -> Entry? { entries.first { $0.tag == tag } }
    }

    /// Reads the header; nil if it is not that of a TIFF (BigTIFF is not supported here).
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 8 else { return nil }
        switch Array(bytes[0..<4]) {
        case [0x49, 0x49, 42, 0]: isBigEndian = false
        case [0x4D, 0x4D, 0, 42]: isBigEndian = true
        default: return nil
        }
        self.bytes = bytes
        firstDirectory = Self.read(bytes, 4, length: 4, isBigEndian)
    }

    static func number(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> Int {
        Int(truncatingIfNeeded: bytes.number(isBig: isBigEndian))
    }

    static func bytes(of number: Int, _ length: Int, _ isBigEndian: Bool) -> [UInt8] {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return isBigEndian ? bytes.reversed() : bytes
    }

    /// Returns the bytes of one value of a type, or nil if there is no such type.
    static func size(ofType type: Int) -> Int? {
        (1...sizes.count).contains(type) ? sizes[type - 1] : nil
    }

    private static func read(_ bytes: [UInt8], _ offset: Int, length: Int, _ isBig: Bool) -> Int {
        number(bytes[offset..<offset + length], isBig)
    }

    /// Returns the range of `count` bytes from `start` on, or nil if it exceeds the bytes.
    func range(_ start: Int, _ count: Int) -> Range<Int>? {
        guard start >= 0, count >= 0, start <= bytes.count, count <= bytes.count - start else {
            return nil
        }
        return start..<start + count
    }

    /// Returns the directory at an offset, or nil if it exceeds the bytes.
    public func directory(at offset: Int) -> Directory? {
        guard offset >= 8, range(offset, 2) != nil else { return nil }
        let count = Self.read(bytes, offset, length: 2, isBigEndian)
        let length = 2 + count * Self.entryLength
        // Some writers omit the link to the next directory at the very end.
        guard let entries = range(offset, length) else { return nil }
        let next = range(offset + length, 4) == nil ? 0 : number(at: offset + length, 4)
        return Directory(
            entries: (0..<count).map { index in
                let start = offset + 2 + index * Self.entryLength
                return Entry(
                    tag: number(at: start, 2), type: number(at: start + 2, 2),
                    count: number(at: start + 4, 4), offset: start)
            },
            next: next, range: entries.lowerBound..<min(entries.upperBound + 4, bytes.count))
    }

    private func number(at offset: Int, _ length: Int) -> Int {
        Self.read(bytes, offset, length: length, isBigEndian)
    }

    /// Bytes of one value by its type, from 1 on (TIFF 6.0 §2; 13 is the offset of a directory).
    private static let sizes = [1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]

    /// Returns the value of an entry with one SHORT, LONG or offset; nil for all others.
    public func number(_ entry: Entry) -> Int? {
        switch (entry.type, entry.count) {
        case (3, 1): number(at: entry.offset + 8, 2)
        case (4, 1), (13, 1): number(at: entry.offset + 8, 4)
        default: nil
        }
    }

    /// Returns the value of an entry with one SRATIONAL; nil for all others, and for a denominator of 0.
    func signedFraction(_ entry: Entry) -> Double? {
        guard entry.type == 10, entry.count == 1, let range = valueRange(entry) else { return nil }
        let parts = [0, 4].map { start in
            Int32(
                truncatingIfNeeded: Self.read(
                    bytes, range.lowerBound + start, length: 4, isBigEndian))
        }
        return parts[1] == 0 ? nil : Double(parts[0]) / Double(parts[1])
    }

    /// Returns the range of a value outside of its entry; nil if it is inside, or out of bounds.
    func valueRange(_ entry: Entry) -> Range<Int>? {
        guard let size = Self.size(ofType: entry.type) else { return nil }
        let length = entry.count * size
        return length > 4 ? range(number(at: entry.offset + 8, 4), length) : nil
    }

    private mutating func write(_ value: Int, at offset: Int, _ length: Int) {
        bytes.replaceSubrange(
            offset..<offset + length, with: Self.bytes(of: value, length, isBigEndian))
    }

    /// Sets an entry to one number: a SHORT if it was one and the number fits, otherwise a LONG.
    mutating func set(_ entry: Entry, to value: Int) {
        let isShort = entry.type != 4 && value <= 0xFFFF
        write(isShort ? 3 : 4, at: entry.offset + 2, 2)
        write(1, at: entry.offset + 4, 4)
        write(0, at: entry.offset + 8, 4)
        write(value, at: entry.offset + 8, isShort ? 2 : 4)
    }

    /// Most numbers of ``shorts(_:)``.
    static let shortsMax = 16

    /// Returns the offset of the numbers of an entry of SHORT; nil for all others.
    private func shortOffset(_ entry: Entry) -> Int? {
        guard entry.type == 3, (1...Self.shortsMax).contains(entry.count) else { return nil }
        return entry.count <= 2 ? entry.offset + 8 : valueRange(entry)?.lowerBound
    }

    /// Returns the numbers of an entry of SHORT, at most ``shortsMax``; nil for all others.
    func shorts(_ entry: Entry) -> [Int]? {
        guard let start = shortOffset(entry) else { return nil }
        return (0..<entry.count).map { number(at: start + 2 * $0, 2) }
    }

    /// Overwrites the numbers of the entry, as many as it has.
    mutating func setShorts(_ entry: Entry, to values: [Int]) {
        guard let start = shortOffset(entry), values.count == entry.count else { return }
        for (index, value) in values.enumerated() { write(value, at: start + 2 * index, 2) }
    }

    mutating func setNext(of directory: Directory, to offset: Int) {
        let link = directory.range.lowerBound + 2 + directory.entries.count * Self.entryLength
        if directory.range.upperBound == link + 4 { write(offset, at: link, 4) }
    }

    /// Removes an entry from its directory: the following ones move up, and twelve zeros are left.
    mutating func remove(_ entry: Entry, from directory: Directory) {
        let rest = bytes[(entry.offset + Self.entryLength)..<directory.range.upperBound]
        bytes.replaceSubrange(
            entry.offset..<directory.range.upperBound,
            with: rest + [UInt8](repeating: 0, count: Self.entryLength))
        write(directory.entries.count - 1, at: directory.range.lowerBound, 2)
    }

    /// Removes all entries of some tags from a directory, at once: a directory may have 65,535.
    mutating func remove(_ tags: Set<Int>, from directory: Directory) {
        let kept = directory.entries.filter { !tags.contains($0.tag) }
        let entriesEnd =
            directory.range.lowerBound + 2 + directory.entries.count * Self.entryLength
        var new = Self.bytes(of: kept.count, 2, isBigEndian)
        for entry in kept { new += bytes[entry.offset..<entry.offset + Self.entryLength] }
        new += bytes[entriesEnd..<directory.range.upperBound]
        new += [UInt8](repeating: 0, count: directory.range.count - new.count)
        bytes.replaceSubrange(directory.range, with: new)
    }

    /// - Parameter new: the same number of bytes.
    mutating func replace(_ range: Range<Int>, with new: [UInt8]) {
        precondition(new.count == range.count, "\(new.count) bytes for \(range.count)")
        bytes.replaceSubrange(range, with: new)
    }

    mutating func zero(_ range: Range<Int>) {
        bytes.replaceSubrange(range, with: repeatElement(0, count: range.count))
    }

    mutating func restore(_ range: Range<Int>, from other: TIFFBytes) {
        bytes.replaceSubrange(range, with: other.bytes[range])
    }
}

extension TIFFBytes {
    /// The first directory of a TIFF file, by which its kind is recognised.
    public struct FirstDirectory: Sendable {
        /// Values by tag; nil for a value that is not a single number.
        private let numbers: [Int: Int?]
        /// The same of the directories below it; none of a BigTIFF.
        private let below: [[Int: Int?]]

        /// A tag by its number (TIFF 6.0 §8, TIFF/EP §5, DNG 1.6 §4).
        public enum Tag: Int, Sendable {
            case newSubfileType = 0x00FE
            case compression = 0x0103
            case photometricInterpretation = 0x0106
            case make = 0x010F
            case orientation = 0x0112
            case subDirectories = 0x014A
            case dngVersion = 0xC612
        }

        /// Most bytes of a directory that are read: some 5,000 entries.
        private static let bytesMax = 1 << 16

        /// Reads the header and the directory with `read`, which returns up to `count` bytes from an offset, or fewer at the end;
        /// nil if the file is neither TIFF nor BigTIFF.
        public init?(_ read: (_ offset: Int, _ count: Int) -> [UInt8]) {
            let header = read(0, 16)
            let small = Array(header.prefix(8))
            if let start = TIFFBytes(small)?.firstDirectory,
                let (tiff, directory) = Self.directory(at: start, small, read)
            {
                numbers = Self.numbers(tiff, directory)
                below = Self.offsetsBelow(tiff, directory, read).compactMap { start in
                    Self.directory(at: start, small, read).map { Self.numbers($0, $1) }
                }
            } else if let big = Self.bigNumbers(header, read) {
                (numbers, below) = (big, [])
            } else {
                return nil
            }
        }

        /// Most directories below the first one that are read; cameras write up to seven.
        private static let belowMax = 32

        /// Returns a directory, and the bytes that contain it behind the header. Values outside of their entries are not among them.
        private static func directory(
            at start: Int, _ header: [UInt8], _ read: (_ offset: Int, _ count: Int) -> [UInt8]
        ) -> (TIFFBytes, TIFFBytes.Directory)? {
            guard let tiff = TIFFBytes(header + read(start, bytesMax)),
                let directory = tiff.directory(at: header.count)
            else { return nil }
            return (tiff, directory)
        }

        private static func numbers(
            _ tiff: TIFFBytes, _ directory: TIFFBytes.Directory
        ) -> [Int: Int?] {
            Dictionary(
                directory.entries.map { ($0.tag, tiff.number($0)) },
                uniquingKeysWith: { first, _ in first })
        }

        private static func offsetsBelow(
            _ tiff: TIFFBytes, _ directory: TIFFBytes.Directory,
            _ read: (_ offset: Int, _ count: Int) -> [UInt8]
        ) -> [Int] {
            guard let entry = directory[Tag.subDirectories.rawValue], [4, 13].contains(entry.type)
            else { return [] }
            if let offset = tiff.number(entry) { return [offset] }
            let value = tiff.bytes[entry.offset + 8..<entry.offset + 12]
            let bytes = read(
                TIFFBytes.number(value, tiff.isBigEndian), 4 * min(entry.count, belowMax))
            return stride(from: 0, to: bytes.count - 3, by: 4).map {
                TIFFBytes.number(bytes[$0..<$0 + 4], tiff.isBigEndian)
            }
        }

        /// Reads the directory of a BigTIFF, whose offsets and counts have eight bytes (libtiff, "The BigTIFF File Format").
        private static func bigNumbers(
            _ header: [UInt8], _ read: (_ offset: Int, _ count: Int) -> [UInt8]
        ) -> [Int: Int?]? {
            guard header.count == 16, header[0] == header[1], [0x49, 0x4D].contains(header[0])
            else { return nil }
            let isBigEndian = header[0] == 0x4D
            func number(_ bytes: [UInt8], _ offset: Int, _ length: Int) -> Int {
                TIFFBytes.number(bytes[offset..<offset + length], isBigEndian)
            }
            let start = number(header, 8, 8)
            guard number(header, 2, 2) == 43, start > 0 else { return nil }
            let bytes = read(start, bytesMax)
            guard bytes.count >= 8 else { return nil }
            let (first, length) = (8, 20)
            let count = number(bytes, 0, 8)
            let entries = (bytes.count - first) / length
            let known = (0..<(count < 0 ? 0 : min(count, entries))).map { index in
                let offset = first + index * length
                let lengths = [3: 2, 4: 4, 16: 8]
                let size =
                    number(bytes, offset + 4, 8) == 1 ? lengths[number(bytes, offset + 2, 2)] : nil
                return (number(bytes, offset, 2), size.map { number(bytes, offset + 12, $0) })
            }
            return Dictionary(known, uniquingKeysWith: { first, _ in first })
        }

        /// The number of a tag, or nil if the tag is missing or not a single number.
        public subscript(tag: Tag) -> Int? { numbers[tag.rawValue] ?? nil }

        /// Returns the numbers of a tag in the directories below, nil for each without a single one.
        public func below(_ tag: Tag) -> [Int?] { below.map { $0[tag.rawValue] ?? nil } }

        public func has(_ tag: Tag) -> Bool { numbers.keys.contains(tag.rawValue) }
    }
}
