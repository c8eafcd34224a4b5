/// A box of a file of the ISO/IEC 14496-12 family: HEIF, AVIF, JPEG XL, MPEG-4 and QuickTime.
///
/// Source: ISO/IEC 14496-12 §4.2. `uuid` is treated like any other type: its sixteen bytes are the first of the content.
public struct Box: Sendable, Equatable {
    /// Its type, four characters.
    public let type: String
    /// The byte range of its header and its content in the file.
    public let range: Range<Int>
    /// The byte range of its content.
    public let content: Range<Int>
    /// Whether the file, or the enclosing box, ends before this box does.
    public let isCutOff: Bool

    /// Most boxes of one level that are read.
    public static let levelMax = 20_000

    /// The content after the version and the flags of a full box; empty if there are none.
    public var contentOfFullBox: Range<Int> {
        min(content.lowerBound + 4, content.upperBound)..<content.upperBound
    }
}

extension FileWindow {
    /// Returns the boxes in a part of the file. A box that exceeds the part is truncated, and is the last one.
    ///
    /// - Parameter max: the most boxes; the rest is not read.
    public mutating func boxes(in range: Range<Int>, atMost max: Int = Box.levelMax) -> [Box] {
        var boxes: [Box] = []
        var offset = range.lowerBound
        while boxes.count < max, let box = box(at: offset, before: range.upperBound) {
            boxes.append(box)
            offset = box.range.upperBound
        }
        return boxes
    }

    /// Returns the first box of a type in a part of the file.
    ///
    /// - Parameter max: the most boxes that are read.
    public mutating func firstBox(
        _ type: String, in range: Range<Int>, atMost max: Int = Box.levelMax
    ) -> Box? {
        var offset = range.lowerBound
        for _ in 0..<max {
            guard let box = box(at: offset, before: range.upperBound) else { return nil }
            if box.type == type { return box }
            offset = box.range.upperBound
        }
        return nil
    }

    /// Returns the box at an offset; nil if there is none, or its length is invalid.
    private mutating func box(at offset: Int, before end: Int) -> Box? {
        guard offset < end, let short = big(offset, 4) else { return nil }
        let name = bytes(offset + 4, 4)
        guard name.count == 4 else { return nil }
        let type = String(decoding: name, as: UTF8.self)
        var (length, header) = (short, 8)
        if short == 1 {
            guard let long = number64(offset + 8, isBig: true) else { return nil }
            (length, header) = (long, 16)
        } else if short == 0 {
            length = end - offset
        }
        guard length >= header else { return nil }
        let isCutOff = length > end - offset
        let upper = isCutOff ? end : offset + length
        return Box(
            type: type, range: offset..<upper, content: Swift.min(offset + header, upper)..<upper,
            isCutOff: isCutOff)
    }
}
