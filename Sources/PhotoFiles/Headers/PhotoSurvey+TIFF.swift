// TIFF 6.0 §2 and §8; BigTIFF as libtiff implements it (8-byte counts and offsets, entries of 20 bytes).
import Edits

extension PhotoSurvey {
    /// The encoding of numbers in the file.
    struct Layout {
        let isBigEndian: Bool
        let isBigTIFF: Bool
        var countBytes: Int { isBigTIFF ? 8 : 2 }
        var offsetBytes: Int { isBigTIFF ? 8 : 4 }
        var entryBytes: Int { isBigTIFF ? 20 : 12 }

        func number(_ file: inout FileWindow, _ offset: Int, _ count: Int) -> Int? {
            if count == 8 { return file.number64(offset, isBig: isBigEndian) }
            return isBigEndian ? file.big(offset, count) : file.little(offset, count)
        }
    }

    /// Most directories below the first one that are read.
    private static let subDirectoriesMax = 32

    /// Walks the chain of directories and sums the lengths of their values: libtiff loads the values of each directory that libvips
    /// counts, including offsets of strips and unknown tags.
    ///
    /// The picture is the first one, or if that is a smaller copy, the first below it or after it that is not.
    mutating func readTIFF(_ file: inout FileWindow) {
        guard let first = file.byte(0), let second = file.byte(2), let third = file.byte(3) else {
            return
        }
        let layout = Layout(isBigEndian: first == 0x4D, isBigTIFF: second == 43 || third == 43)
        var link = layout.isBigTIFF ? 8 : 4
        // A chain may contain a loop, which libtiff detects.
        var seen: Set<Int> = []
        while !isBeyond, let offset = layout.number(&file, link, layout.offsetBytes), offset > 0,
            offset < file.length, seen.insert(offset).inserted
        {
            pages += 1
            let page = TIFFPicture(offset: offset, page: pages - 1)
            guard let end = readDirectory(&file, page, layout) else { break }
            if pages == 1 { readSubDirectories(&file, layout) }
            link = end
        }
        guard var picture = tiff, !isBeyond else { return }
        for (tag, field) in picture.fields where picture.numbers[tag] == nil {
            picture.numbers[tag] = Self.numbers(field, &file, layout)
        }
        picture.isWhole = isWhole(picture, in: &file, layout)
        tiff = picture
        obstacle = picture.obstacle
        if let width = picture[.width], let height = picture[.height] { setSize(width, height) }
    }

    /// Reads the directories below the first one.
    private mutating func readSubDirectories(_ file: inout FileWindow, _ layout: Layout) {
        guard let first = tiff else { return }
        let offsets = first.numbers[TIFFPicture.Tag.subDirectories.rawValue] ?? []
        for (index, offset) in offsets.prefix(Self.subDirectoriesMax).enumerated()
        where offset > 0 && offset < file.length && !isBeyond {
            _ = readDirectory(
                &file, TIFFPicture(offset: offset, page: index, isBelow: true), layout)
        }
    }

    /// Reads a directory, and keeps it if it is the picture.
    ///
    /// - Returns: the position of the link to the next one; nil for a truncated directory, which is not read.
    private mutating func readDirectory(
        _ file: inout FileWindow, _ directory: TIFFPicture, _ layout: Layout
    ) -> Int? {
        guard let count = layout.number(&file, directory.offset, layout.countBytes) else {
            return nil
        }
        var directory = directory
        let start = directory.offset + layout.countBytes
        guard count <= (file.length - start) / layout.entryBytes else { return nil }
        for index in 0..<count {
            guard !isBeyond else { return nil }
            readEntry(&file, at: start + index * layout.entryBytes, layout, of: &directory)
        }
        if directory.isReduced, !directory.isBelow { reducedPages += 1 }
        if directory.isFirst { firstTIFF = directory }
        if tiff.map({ $0.isReduced && !directory.isReduced }) ?? true {
            tiff = directory
        } else if directory.isBelow, !directory.isReduced {
            hasPicturesBelow = true
        }
        return start + count * layout.entryBytes
    }

    private mutating func readEntry(
        _ file: inout FileWindow, at offset: Int, _ layout: Layout, of directory: inout TIFFPicture
    ) {
        guard let tag = layout.number(&file, offset, 2),
            let type = layout.number(&file, offset + 2, 2),
            let count = layout.number(&file, offset + 4, layout.offsetBytes)
        else { return }
        let (declaredLength, overflows) = count.multipliedReportingOverflow(
            by: Self.typeBytes(type))
        let value = offset + 4 + layout.offsetBytes
        // Values that do not fit into the entry are stored elsewhere, possibly outside of the file.
        let start =
            declaredLength > layout.offsetBytes
            ? layout.number(&file, value, layout.offsetBytes) : value
        let bytes = file.existing(overflows ? .max : declaredLength, from: start ?? file.length)
        if tag == TIFFPicture.Tag.profile.rawValue {
            addProfile(bytes)
        } else {
            addMetadata(bytes)
        }
        guard let known = TIFFPicture.Tag(rawValue: tag), let start, !overflows,
            bytes == declaredLength, directory.fields[tag] == nil
        else { return }
        let field = TIFFPicture.Field(type: type, count: count, offset: start)
        directory.fields[tag] = field
        // Numbers elsewhere are read for the picture alone: a file may have a thousand directories.
        if start == value || known == .subDirectories && pages == 1 {
            directory.numbers[tag] = Self.numbers(field, &file, layout)
        }
    }

    /// Returns the first numbers of a field.
    private static func numbers(
        _ field: TIFFPicture.Field, _ file: inout FileWindow, _ layout: Layout
    ) -> [Int] {
        numbers(field, first: 0, count: min(field.count, TIFFPicture.numbersMax), &file, layout)
    }

    /// Returns unsigned numbers of a field; fewer if it holds none.
    private static func numbers(
        _ field: TIFFPicture.Field, first: Int, count: Int, _ file: inout FileWindow,
        _ layout: Layout
    ) -> [Int] {
        // BYTE, SHORT, LONG, IFD, LONG8, IFD8.
        guard [1, 3, 4, 13, 16, 18].contains(field.type) else { return [] }
        let bytes = typeBytes(field.type)
        return (first..<first + count).compactMap {
            layout.number(&file, field.offset + $0 * bytes, bytes)
        }
    }

    /// Numbers that are read together, so that offsets and counts need few reads.
    private static let numbersAtOnce = 1024

    /// Whether all strips or tiles lie in the file; nil if the directory does not list them.
    private func isWhole(
        _ picture: TIFFPicture, in file: inout FileWindow, _ layout: Layout
    ) -> Bool? {
        let (offsetTag, countTag): (TIFFPicture.Tag, TIFFPicture.Tag) =
            picture.isTiled
            ? (.tileOffsets, .tileByteCounts) : (.stripOffsets, .stripByteCounts)
        guard let offsets = picture.fields[offsetTag.rawValue],
            let counts = picture.fields[countTag.rawValue], offsets.count == counts.count
        else { return nil }
        for first in stride(from: 0, to: offsets.count, by: Self.numbersAtOnce) {
            let count = min(Self.numbersAtOnce, offsets.count - first)
            let starts = Self.numbers(offsets, first: first, count: count, &file, layout)
            let lengths = Self.numbers(counts, first: first, count: count, &file, layout)
            guard starts.count == count, lengths.count == count else { return nil }
            guard zip(starts, lengths).allSatisfy({ Self.sum($0, $1) <= file.length }) else {
                return false
            }
        }
        return true
    }

    /// Returns the bytes of a value of a type.
    static func typeBytes(_ type: Int) -> Int {
        switch type {
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12, 16, 17, 18: 8
        default: 1
        }
    }
}
