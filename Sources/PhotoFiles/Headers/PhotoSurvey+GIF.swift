// GIF89a: §18 (screen), §20 (image), §23 to §26 (extensions), §15 (sub-blocks).
extension PhotoSurvey {
    /// Walks the blocks. Their lengths are interleaved with the pixels, every 255 bytes, so the whole file is read once; the walk
    /// ends at the limit on frames.
    ///
    /// The size is the area that the frames cover: libnsgif enlarges the screen for them, and ignores the size of some screens.
    /// screens.
    mutating func readGIF(_ file: inout FileWindow) {
        guard let flags = file.byte(10) else { return }
        var offset = 13 + Self.tableBytes(flags)
        var (right, bottom) = (0, 0)
        while !isBeyond, let kind = file.byte(offset) {
            switch kind {
            case 0x2C:
                guard let left = file.little(offset + 1, 2), let top = file.little(offset + 3, 2),
                    let width = file.little(offset + 5, 2),
                    let height = file.little(offset + 7, 2), let flags = file.byte(offset + 9)
                else { return }
                frames += 1
                (right, bottom) = (max(right, left + width), max(bottom, top + height))
                setSize(right, bottom)
                // The colour table, and the minimum code size.
                offset = Self.endOfBlocks(in: &file, from: offset + 11 + Self.tableBytes(flags))
            case 0x21:
                let end = Self.endOfBlocks(in: &file, from: offset + 2)
                addMetadata(end - offset)
                offset = end
            default: return
            }
        }
    }

    private static func tableBytes(_ flags: Int) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1)
    }

    /// Returns the position after the empty sub-block that ends the sub-blocks.
    private static func endOfBlocks(in file: inout FileWindow, from start: Int) -> Int {
        var offset = start
        while let length = file.byte(offset), length > 0 { offset += 1 + length }
        return offset + 1
    }
}
