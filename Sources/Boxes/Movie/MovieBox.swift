/// A box of a `moov` as a value: read, changed and written again without loss of what nobody here knows.
///
/// Source: ISO/IEC 14496-12 §4.2, and the QuickTime File Format, whose lists may end with four bytes of zero.
public struct MovieBox: Sendable, Equatable {
    public let type: BoxType
    /// The content in front of the boxes within; all of it where there are none.
    var bytes: [UInt8]
    /// The boxes within, where the type is one of ``lists``.
    var boxes: [MovieBox]
    /// Bytes behind them that are no box.
    var tail: [UInt8] = []

    /// Boxes that hold boxes and nothing else, of those that have to be read or changed.
    private static let lists: Set<BoxType> = [
        "moov", "trak", "mdia", "minf", "stbl", "edts", "dinf",
    ]

    init(_ type: BoxType, _ bytes: [UInt8] = [], boxes: [MovieBox] = []) {
        (self.type, self.bytes, self.boxes) = (type, bytes, boxes)
    }

    /// Reads the content of a box.
    ///
    /// - Parameter count: boxes that were read so far; counted on.
    /// - Throws: `damaged` for a box that is longer than the one around it; `limit` of boxes.
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
            // The end of a QuickTime list, or filling.
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

    /// The first box along a path of types; nil when there is none.
    subscript(path: BoxType...) -> MovieBox? {
        path.reduce(self) { box, type in box?.boxes.first { $0.type == type } }
    }

    /// Changes the first box along a path, if there is one.
    mutating func change(_ path: BoxType..., by body: (inout MovieBox) -> Void) {
        change(path[...], by: body)
    }

    private mutating func change(_ path: ArraySlice<BoxType>, by body: (inout MovieBox) -> Void) {
        guard let first = path.first else { return body(&self) }
        guard let index = boxes.firstIndex(where: { $0.type == first }) else { return }
        boxes[index].change(path.dropFirst(), by: body)
    }

    /// Bytes that it takes in a file.
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
    /// A number of so many bytes from a place behind the first, the highest first; bytes that are not there are 0.
    func number(at place: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { sum, index in
            let at = startIndex + place + index
            return sum << 8 | (at < endIndex ? Int(self[at]) : 0)
        }
    }

    /// The same of four bytes with a sign.
    func signed(at place: Int) -> Int {
        Int(Int32(truncatingIfNeeded: number(at: place, 4)))
    }
}
