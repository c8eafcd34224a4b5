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

        /// Most directories below the first one that are read; cameras write two or three.
        private static let belowMax = 8

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

        /// Whether the tag is present.
        public func has(_ tag: Tag) -> Bool { numbers.keys.contains(tag.rawValue) }
    }
}
