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

    /// Reads a big-endian number of up to 7 bytes; nil at the end.
    public mutating func big(_ offset: Int, _ count: Int) -> Int? {
        let bytes = bytes(offset, count)
        return bytes.count == count ? bytes.reduce(0) { $0 << 8 | Int($1) } : nil
    }

    /// Reads a little-endian number of up to 7 bytes; nil at the end.
    public mutating func little(_ offset: Int, _ count: Int) -> Int? {
        let bytes = bytes(offset, count)
        return bytes.count == count ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : nil
    }

    /// Reads a number of 8 bytes; nil at the end, or if it exceeds an `Int`.
    public mutating func number64(_ offset: Int, isBig: Bool) -> Int? {
        let bytes = bytes(offset, 8)
        guard bytes.count == 8 else { return nil }
        let ordered = isBig ? Array(bytes) : bytes.reversed()
        return Int(exactly: ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Returns whether the file has these bytes at an offset.
    public mutating func has(_ text: String, at offset: Int) -> Bool {
        bytes(offset, text.utf8.count).elementsEqual(text.utf8)
    }
}
