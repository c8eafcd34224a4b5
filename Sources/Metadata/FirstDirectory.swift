extension TIFFBytes {
    /// The first directory of a TIFF file, to tell what kind of file it is.
    public struct FirstDirectory: Sendable {
        private let bytes: TIFFBytes
        private let directory: Directory

        /// A tag by its number (TIFF 6.0 §8, TIFF/EP §5, DNG 1.6 §4).
        public enum Tag: Int, Sendable {
            case newSubfileType = 0x00FE
            case compression = 0x0103
            case photometricInterpretation = 0x0106
            case make = 0x010F
            case subDirectories = 0x014A
            case dngVersion = 0xC612
        }

        /// Most bytes of a directory that are looked at: some 5,000 entries.
        private static let bytesMax = 1 << 16
        private static let headerLength = 8

        /// Reads the header and the directory by `read`, which gives up to so many bytes from an offset,
        /// or fewer at the end; nil when it is no TIFF.
        public init?(_ read: (_ offset: Int, _ count: Int) -> [UInt8]) {
            let header = read(0, Self.headerLength)
            guard let start = TIFFBytes(header)?.firstDirectory else { return nil }
            // The values that do not fit into their entries are left behind: nobody asks for them.
            let bytes = header + read(start, Self.bytesMax)
            guard let tiff = TIFFBytes(bytes),
                let directory = tiff.directory(at: Self.headerLength)
            else { return nil }
            self.bytes = tiff
            self.directory = directory
        }

        /// A number, or nil when the tag is not there or is no single number.
        public subscript(tag: Tag) -> Int? { directory[tag.rawValue].flatMap(bytes.number) }

        /// Whether there is such an entry.
        public func has(_ tag: Tag) -> Bool { directory[tag.rawValue] != nil }
    }
}
