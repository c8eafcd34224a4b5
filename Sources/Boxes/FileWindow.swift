/// Bytes of a file at offsets, read through one window: a walk from byte to byte costs few reads, and a
/// jump a small one.
///
/// Nothing is read twice on the way forward, and nothing beyond the end of the file is an error: it is
/// not there.
public struct FileWindow {
    /// Bytes of the file.
    public let length: Int
    private let read: (_ offset: Int, _ count: Int) -> [UInt8]
    private var window: [UInt8] = []
    private var start = 0

    /// Bytes that are read after a jump: a header, as a rule.
    private static let windowMin = 4 << 10
    /// Bytes that are read at most: doubled as long as one goes on where the other ended.
    public static let windowMax = 256 << 10

    /// - Parameter read: gives up to so many bytes from an offset, or fewer at the end.
    public init(
        length: Int, _ read: @escaping (_ offset: Int, _ count: Int) -> [UInt8]
    ) {
        self.length = length
        self.read = read
    }

    /// The first bytes of the file.
    public func head(of count: Int) -> [UInt8] { read(0, min(count, length)) }

    /// Up to so many bytes from an offset, at most ``windowMax``; fewer at the end of the file.
    public mutating func bytes(_ offset: Int, _ count: Int) -> ArraySlice<UInt8> {
        stretch(offset, atLeast: count).prefix(max(0, count))
    }

    /// What is at hand from an offset on: so many bytes, or more; fewer only at the end of the file.
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

    /// All bytes of a part of the file, however many; fewer at the end of the file.
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

    /// How many of so many bytes from an offset there are: a length is what a stranger says.
    public func existing(_ count: Int, from offset: Int) -> Int {
        min(max(0, count), max(0, length - max(0, offset)))
    }

    /// One byte; nil at the end.
    public mutating func byte(_ offset: Int) -> Int? { bytes(offset, 1).first.map(Int.init) }

    /// A number of so many bytes, at most 7, the highest first; nil at the end.
    public mutating func big(_ offset: Int, _ count: Int) -> Int? {
        let bytes = bytes(offset, count)
        return bytes.count == count ? bytes.reduce(0) { $0 << 8 | Int($1) } : nil
    }

    /// The same, the lowest first.
    public mutating func little(_ offset: Int, _ count: Int) -> Int? {
        let bytes = bytes(offset, count)
        return bytes.count == count ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : nil
    }

    /// Of 8 bytes; nil also when it is beyond what an `Int` holds.
    public mutating func number64(_ offset: Int, isBig: Bool) -> Int? {
        let bytes = bytes(offset, 8)
        guard bytes.count == 8 else { return nil }
        let ordered = isBig ? Array(bytes) : bytes.reversed()
        return Int(exactly: ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Whether such bytes stand there.
    public mutating func has(_ text: String, at offset: Int) -> Bool {
        bytes(offset, text.utf8.count).elementsEqual(text.utf8)
    }
}
