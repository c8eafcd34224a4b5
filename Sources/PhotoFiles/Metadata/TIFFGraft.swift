/// EXIF and IPTC to be appended to a finished TIFF file.
public struct TIFFGraft: Sendable {
    /// The bytes to append to the file.
    public let bytes: [UInt8]
    /// The new bytes 4 to 7 of the file: the offset of its new directory.
    public let link: [UInt8]

    private static let iptcTag = 0x83BB
    private static let undefined = 7
    /// Offsets of a TIFF have 32 bits; a BigTIFF gets no EXIF.
    private static let lengthMax = Int(UInt32.max)

    /// Prepares the change of a file with one directory.
    ///
    /// - Parameters:
    ///   - exif: a TIFF structure, or nil.
    ///   - iptc: IPTC records, or nil.
    ///   - length: bytes of the file.
    ///   - read: returns bytes of the file from an offset.
    /// - Returns: nil if there is nothing to append, or the file is no classic TIFF.
    public init?(
        exif: [UInt8]?, iptc: [UInt8]?, length: Int,
        _ read: (_ offset: Int, _ count: Int) -> [UInt8]
    ) {
        guard let file = TIFFBytes(read(0, 8)), length < Self.lengthMax - (1 << 24) else {
            return nil
        }
        let isBig = file.isBigEndian
        let source = exif.flatMap { exif in
            ExifDirectories { offset, count in
                Array(exif.dropFirst(offset).prefix(count))
            }
        }
        let count = TIFFBytes.number(read(file.firstDirectory, 2)[...], isBig)
        let entries = read(file.firstDirectory + 2, count * 12)
        guard entries.count == count * 12, source != nil || iptc != nil else { return nil }
        var main: [ExifDirectories.Item] = (0..<count).map { index in
            let entry = entries[index * 12..<index * 12 + 12]
            func number(_ from: Int, _ length: Int) -> Int {
                let start = entry.startIndex + from
                return TIFFBytes.number(entry[start..<start + length], isBig)
            }
            return ExifDirectories.Item(
                tag: number(0, 2), type: number(2, 2), count: number(4, 4),
                value: Array(entry.suffix(4)), isEntry: true)
        }
        // Tags of the writer of the pixels take precedence over the original's.
        let present = Set(main.map(\.tag))
        main += (source?.main ?? []).filter { !present.contains($0.tag) }
        if let iptc {
            main.append(
                ExifDirectories.Item(
                    tag: Self.iptcTag, type: Self.undefined, count: iptc.count, value: iptc))
        }
        // Directories must begin at even offsets.
        let padding = [UInt8](repeating: 0, count: length % 2)
        let directories = source ?? ExifDirectories(emptyInOrder: isBig)
        let (bytes, start) = directories.serialised(main, at: length + padding.count, isBig)
        self.bytes = padding + bytes
        link = TIFFBytes.bytes(of: start, 4, isBig)
    }
}

extension ExifDirectories {
    fileprivate init(emptyInOrder isBigEndian: Bool) { self.isBigEndian = isBigEndian }
}
