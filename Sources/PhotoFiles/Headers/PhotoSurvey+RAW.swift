// TIFF 6.0 §2, DNG 1.7.1 "Compression" (52546: JPEG XL). LibRaw 0.20 does not support such tiles and reports that the file has no
// data.
extension PhotoSurvey {
    private enum Tag {
        static let subfileType = 254
        static let compression = 259
        static let subDirectories = 330
    }

    private static let jpegXL = 52_546
    /// Most directories below the first one that are read; cameras write up to seven.
    private static let directoriesMax = 32
    /// Most entries of a directory.
    private static let entriesMax = 512

    /// Reads the compression of a DNG's photo.
    mutating func readRAW(_ file: inout FileWindow) {
        guard let first = file.byte(0), first == file.byte(1), first == 0x49 || first == 0x4D else {
            return
        }
        let layout = Layout(isBigEndian: first == 0x4D, isBigTIFF: false)
        guard layout.number(&file, 2, 2) == 42, let offset = layout.number(&file, 4, 4) else {
            return
        }
        let top = Self.entries(of: &file, at: offset, layout)
        let below = Self.offsets(top[Tag.subDirectories], &file, layout)
        for offset in [offset] + below {
            let entries = Self.entries(of: &file, at: offset, layout)
            // 0 is the photo itself, not a smaller copy of it.
            guard Self.number(entries[Tag.subfileType], &file, layout) ?? 0 == 0,
                Self.number(entries[Tag.compression], &file, layout) == Self.jpegXL
            else { continue }
            obstacle = "it is a DNG with JPEG XL inside"
        }
    }

    /// The offset of an entry's type, count and value.
    private typealias Entry = Int

    private static func entries(
        of file: inout FileWindow, at offset: Int, _ layout: Layout
    ) -> [Int: Entry] {
        guard let count = layout.number(&file, offset, layout.countBytes) else { return [:] }
        var entries: [Int: Entry] = [:]
        for index in 0..<min(count, entriesMax) {
            let entry = offset + layout.countBytes + index * layout.entryBytes
            guard let tag = layout.number(&file, entry, 2) else { break }
            entries[tag] = entries[tag] ?? entry + 2
        }
        return entries
    }

    /// Returns the number stored in an entry: 16 or 32 bits.
    private static func number(
        _ entry: Entry?, _ file: inout FileWindow, _ layout: Layout
    ) -> Int? {
        guard let entry, let type = layout.number(&file, entry, 2), type == 3 || type == 4 else {
            return nil
        }
        return layout.number(&file, entry + 6, type == 3 ? 2 : 4)
    }

    /// Returns the offsets of the directories that an entry refers to.
    private static func offsets(
        _ entry: Entry?, _ file: inout FileWindow, _ layout: Layout
    ) -> [Int] {
        guard let entry, let count = layout.number(&file, entry + 2, 4), count > 0,
            let value = layout.number(&file, entry + 6, 4)
        else { return [] }
        guard count > 1 else { return [value] }
        var offsets: [Int] = []
        for index in 0..<min(count, directoriesMax) {
            guard let offset = layout.number(&file, value + 4 * index, 4) else { break }
            offsets.append(offset)
        }
        return offsets
    }
}
