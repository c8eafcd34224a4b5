// TIFF 6.0 §2 and §8; BigTIFF as libtiff implements it (8-byte counts and offsets, entries of 20 bytes).
import Boxes
import Adjustments

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

    private enum Tag {
        static let subfileType = 254
        static let width = 256
        static let height = 257
        static let profile = 34_675
    }

    /// Walks the chain of directories and sums the lengths of their values: libtiff loads the values of each directory that libvips
    /// counts, including offsets of strips and unknown tags.
    mutating func readTIFF(_ file: inout FileWindow) {
        guard let first = file.byte(0), let second = file.byte(2), let third = file.byte(3) else {
            return
        }
        let layout = Layout(isBigEndian: first == 0x4D, isBigTIFF: second == 43 || third == 43)
        var link = layout.isBigTIFF ? 8 : 4
        // A chain may contain a loop, which libtiff detects.
        var seen: Set<Int> = []
        while !isBeyond, let offset = layout.number(&file, link, layout.offsetBytes), offset > 0,
            offset < file.length, seen.insert(offset).inserted,
            let count = layout.number(&file, offset, layout.countBytes)
        {
            pages += 1
            let start = offset + layout.countBytes
            // A truncated directory is not read.
            guard count <= (file.length - start) / layout.entryBytes else { return }
            for index in 0..<count {
                guard !isBeyond else { return }
                readEntry(&file, at: start + index * layout.entryBytes, layout)
            }
            link = start + count * layout.entryBytes
        }
    }

    private mutating func readEntry(_ file: inout FileWindow, at offset: Int, _ layout: Layout) {
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
        if tag == Tag.profile {
            addProfile(bytes)
        } else {
            addMetadata(bytes)
        }
        // TIFF 6.0 §8: bit 0 of NewSubfileType.
        if tag == Tag.subfileType, let bits = layout.number(&file, value, 4), bits & 1 == 1 {
            reducedPages += 1
        }
        // The size of the first page, which is the one that is rendered.
        if pages == 1, tag == Tag.width || tag == Tag.height, count == 1,
            [3, 4, 16].contains(type),
            let side = layout.number(&file, value, type == 3 ? 2 : type == 4 ? 4 : 8)
        {
            let known = size ?? PixelSize(width: 0, height: 0)
            if tag == Tag.width {
                setSize(side, known.height)
            } else {
                setSize(known.width, side)
            }
        }
    }

    private static func typeBytes(_ type: Int) -> Int {
        switch type {
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12, 16, 17, 18: 8
        default: 1
        }
    }
}
