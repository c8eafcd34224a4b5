// TIFF 6.0 §2 and §8; BigTIFF as libtiff has it (8-byte counts and offsets, entries of 20 bytes).
import Boxes
import Adjustments

extension PhotoSurvey {
    /// How numbers lie in the file.
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
        static let width = 256
        static let height = 257
        static let profile = 34_675
    }

    /// Follows the chain of directories and adds up how long their values are: libtiff fetches those of each
    /// directory that libvips counts, strips' offsets and tags without a meaning included.
    mutating func readTIFF(_ file: inout FileWindow) {
        guard let first = file.byte(0), let second = file.byte(2), let third = file.byte(3) else {
            return
        }
        let layout = Layout(isBigEndian: first == 0x4D, isBigTIFF: second == 43 || third == 43)
        var link = layout.isBigTIFF ? 8 : 4
        // A chain may bite its tail; libtiff sees that.
        var seen: Set<Int> = []
        while !isBeyond, let place = layout.number(&file, link, layout.offsetBytes), place > 0,
            place < file.length, seen.insert(place).inserted,
            let count = layout.number(&file, place, layout.countBytes)
        {
            pages += 1
            let start = place + layout.countBytes
            // What is cut off is not read.
            guard count <= (file.length - start) / layout.entryBytes else { return }
            for index in 0..<count {
                guard !isBeyond else { return }
                readEntry(&file, at: start + index * layout.entryBytes, layout)
            }
            link = start + count * layout.entryBytes
        }
    }

    private mutating func readEntry(_ file: inout FileWindow, at place: Int, _ layout: Layout) {
        guard let tag = layout.number(&file, place, 2),
            let type = layout.number(&file, place + 2, 2),
            let count = layout.number(&file, place + 4, layout.offsetBytes)
        else { return }
        let (told, overflows) = count.multipliedReportingOverflow(by: Self.typeBytes(type))
        let value = place + 4 + layout.offsetBytes
        // What does not fit into the entry lies elsewhere, if it is there at all.
        let start =
            told > layout.offsetBytes ? layout.number(&file, value, layout.offsetBytes) : value
        let bytes = file.existing(overflows ? .max : told, from: start ?? file.length)
        if tag == Tag.profile {
            addProfile(bytes)
        } else {
            addMetadata(bytes)
        }
        // Of the first page, which is the one that is rendered.
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
