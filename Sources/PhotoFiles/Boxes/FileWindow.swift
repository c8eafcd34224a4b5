/// Bytes of a file at offsets, read through one window: sequential access causes few reads, and a jump a small one.
///
/// Sequential access reads no byte twice. Bytes beyond the end of the file are missing, which is not an error.
public struct FileWindow {
    /// Length of the file in bytes.
    public let length: Int
    private let read: (_ offset: Int, _ count: Int) -> [UInt8]
    private var window: [UInt8] = []
    private var start = 0

    /// Bytes that are read after a jump: usually a header.
    private static let windowMin = 4 << 10
    /// The most bytes that are read at once: the window is doubled as long as access is sequential.
    public static let windowMax = 256 << 10

    /// - Parameter read: returns up to `count` bytes from an offset, or fewer at the end.
    public init(
        length: Int, _ read: @escaping (_ offset: Int, _ count: Int) -> [UInt8]
    ) {
        self.length = length
        self.read = read
    }

    /// A file in memory.
    public init(_ bytes: [UInt8]) {
        self.init(length: bytes.count) { offset, count in
            Array(bytes.dropFirst(offset).prefix(count))
        }
    }

    /// Returns the first bytes of the file.
    public func head(of count: Int) -> [UInt8] { read(0, min(count, length)) }

    /// Returns up to `count` bytes from an offset, at most ``windowMax``; fewer at the end of the file.
    public mutating func bytes(_ offset: Int, _ count: Int) -> ArraySlice<UInt8> {
        stretch(offset, atLeast: count).prefix(max(0, count))
    }

    /// Returns the buffered bytes from an offset on: at least `count`, or fewer at the end of the file.
    public mutating func stretch(_ offset: Int, atLeast count: Int) -> ArraySlice<UInt8> {
        guard offset >= 0, offset < length, count > 0 else { return [] }
        let count = min(count, Self.windowMax, length - offset)
        if offset < start || offset + count > start + window.count {
            let goesOn = offset >= start && offset <= start + window.count && !window.isEmpty
            let size = goesOn ? min(2 * window.count, Self.windowMax) : Self.windowMin
            window = read(offset, max(size, count))
            start = offset
        }
        return window[min(offset - start, window.count)...]
    }

    /// Returns all bytes of a part of the file, of any length; fewer at the end of the file.
    public mutating func all(_ range: Range<Int>) -> [UInt8] {
        var found: [UInt8] = []
        while found.count < range.count {
            let more = bytes(
                range.lowerBound + found.count, min(Self.windowMax, range.count - found.count))
            guard !more.isEmpty else { break }
            found += more
        }
        return found
    }

    /// Returns how many of `count` bytes from an offset exist, because lengths are untrusted.
    public func existing(_ count: Int, from offset: Int) -> Int {
        min(max(0, count), max(0, length - max(0, offset)))
    }

    /// Returns one byte; nil at the end.
    public mutating func byte(_ offset: Int) -> Int? { bytes(offset, 1).first.map(Int.init) }

    /// Reads a number of up to 8 bytes; nil at the end, or if it exceeds an `Int`.
    public mutating func number(_ offset: Int, _ count: Int, isBig: Bool) -> Int? {
        let bytes = bytes(offset, count)
        return bytes.count == count ? Int(exactly: bytes.number(isBig: isBig)) : nil
    }

    public mutating func big(_ offset: Int, _ count: Int) -> Int? {
        number(offset, count, isBig: true)
    }

    public mutating func little(_ offset: Int, _ count: Int) -> Int? {
        number(offset, count, isBig: false)
    }

    /// Returns whether the file has these bytes at an offset.
    public mutating func has(_ text: String, at offset: Int) -> Bool {
        bytes(offset, text.utf8.count).elementsEqual(text.utf8)
    }
}

/// A box of a file of the ISO/IEC 14496-12 family: HEIF, AVIF, JPEG XL, MPEG-4 and QuickTime.
///
/// Source: ISO/IEC 14496-12 §4.2. `uuid` is treated like any other type: its sixteen bytes are the first of the content.
public struct Box: Sendable, Equatable {
    public let type: String
    /// The byte range of its header and its content in the file.
    public let range: Range<Int>
    public let content: Range<Int>
    /// Whether the file, or the enclosing box, ends before this box does.
    public let isCutOff: Bool

    /// Most boxes of one level that are read.
    public static let levelMax = 20_000

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
            guard let long = big(offset + 8, 8) else { return nil }
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
