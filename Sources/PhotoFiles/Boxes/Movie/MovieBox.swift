/// A box of a `moov` as a value: read, changed and written again without loss of unknown contents.
///
/// Source: ISO/IEC 14496-12 §4.2, and the QuickTime File Format, whose lists may end with four bytes of zero.
public struct MovieBox: Sendable, Equatable {
    public let type: BoxType
    /// The content before the nested boxes; all of it if there are none.
    var bytes: [UInt8]
    /// The nested boxes, if the type is one of ``lists``.
    var boxes: [MovieBox]
    /// Bytes after them that are no box.
    var tail: [UInt8] = []

    /// Boxes that contain only boxes, as far as they must be read or changed.
    private static let lists: Set<BoxType> = [
        "moov", "trak", "mdia", "minf", "stbl", "edts", "dinf",
    ]

    init(_ type: BoxType, _ bytes: [UInt8] = [], boxes: [MovieBox] = []) {
        (self.type, self.bytes, self.boxes) = (type, bytes, boxes)
    }

    /// Reads the content of a box.
    ///
    /// - Parameter count: the number of boxes read so far; incremented.
    /// - Throws: `damaged` for a box that is longer than the enclosing one; `limit` of boxes.
    init(
        _ type: BoxType, _ content: ArraySlice<UInt8>, _ limits: MovieLimits, count: inout Int
    ) throws(MovieProblem) {
        self.init(type)
        guard Self.lists.contains(type) else {
            bytes = Array(content)
            return
        }
        var rest = content
        while rest.count >= 8 {
            let length = Int(rest.number(at: 0, 4))
            let inner = BoxType(UInt32(rest.number(at: 4, 4)))
            // The end of a QuickTime list, or padding.
            if length == 0 { break }
            guard length >= 8, length <= rest.count else {
                throw .damaged(
                    "a box \(inner) of \(length) bytes in a \(type) that has \(rest.count) left")
            }
            count += 1
            guard count <= limits.boxes else { throw .limit("boxes", count, limits.boxes) }
            let box = rest.prefix(length).dropFirst(8)
            boxes.append(try MovieBox(inner, box, limits, count: &count))
            rest = rest.dropFirst(length)
        }
        tail = Array(rest)
    }

    /// The first box along a path of types; nil if there is none.
    subscript(path: BoxType...) -> MovieBox? {
        path.reduce(self) { box, type in box?.boxes.first { $0.type == type } }
    }

    /// Changes the first box along a path, if it exists.
    mutating func change(_ path: BoxType..., by body: (inout MovieBox) -> Void) {
        change(path[...], by: body)
    }

    private mutating func change(_ path: ArraySlice<BoxType>, by body: (inout MovieBox) -> Void) {
        guard let first = path.first else { return body(&self) }
        guard let index = boxes.firstIndex(where: { $0.type == first }) else { return }
        boxes[index].change(path.dropFirst(), by: body)
    }

    /// Its length in a file, in bytes.
    var length: Int { 8 + bytes.count + boxes.reduce(0) { $0 + $1.length } + tail.count }

    func write(to writer: inout ByteWriter) {
        writer.add(length, 4)
        writer.add(type.bytes)
        writer.add(bytes)
        for box in boxes { box.write(to: &writer) }
        writer.add(tail)
    }
}

extension Collection where Element == UInt8, Index == Int {
    /// Reads a big-endian number of `count` bytes at an offset from the first; missing bytes are 0.
    func number(at offset: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { sum, index in
            let at = startIndex + offset + index
            return sum << 8 | (at < endIndex ? Int(self[at]) : 0)
        }
    }

    /// Reads a signed number of four bytes.
    func signed(at offset: Int) -> Int {
        Int(Int32(truncatingIfNeeded: number(at: offset, 4)))
    }
}
