import Boxes

// GIF89a: §18 (screen), §20 (image), §23 to §26 (extensions), §15 (sub-blocks).
extension PhotoSurvey {
    /// Follows the blocks. Their lengths stand among the pixels, every 255 bytes, so the file is read
    /// once; frames beyond the limit end it.
    ///
    /// The size is what the frames cover: libnsgif makes a screen larger for them, and does not believe all
    /// screens.
    mutating func readGIF(_ file: inout FileWindow) {
        guard let flags = file.byte(10) else { return }
        var place = 13 + Self.tableBytes(flags)
        var (right, bottom) = (0, 0)
        while !isBeyond, let kind = file.byte(place) {
            switch kind {
            case 0x2C:
                guard let left = file.little(place + 1, 2), let top = file.little(place + 3, 2),
                    let width = file.little(place + 5, 2),
                    let height = file.little(place + 7, 2), let flags = file.byte(place + 9)
                else { return }
                frames += 1
                (right, bottom) = (max(right, left + width), max(bottom, top + height))
                setSize(right, bottom)
                // The table of colours, and the size of a code.
                place = Self.endOfBlocks(in: &file, from: place + 11 + Self.tableBytes(flags))
            case 0x21:
                let end = Self.endOfBlocks(in: &file, from: place + 2)
                addMetadata(end - place)
                place = end
            default: return
            }
        }
    }

    private static func tableBytes(_ flags: Int) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1)
    }

    /// Behind the empty sub-block that ends them.
    private static func endOfBlocks(in file: inout FileWindow, from start: Int) -> Int {
        var place = start
        while let length = file.byte(place), length > 0 { place += 1 + length }
        return place + 1
    }
}
