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

/// Changes of a track's tables.
extension MovieBox {
    /// Tables that are replaced, and tables about single samples that are no longer valid.
    private static let ofSamples: Set<BoxType> = [
        "stsz", "stz2", "ctts", "cslg", "stss", "stps", "sgpd", "sbgp", "sdtp", "subs", "saiz",
        "saio", "stdp",
    ]

    /// Replaces the samples of a `stbl`: their sizes and presentation times.
    ///
    /// Decoding times and chunks stay unchanged, and with them edit lists, durations and a variable frame rate. A new sample has
    /// the presentation time of the source's sample of the same rank.
    mutating func replaceSamples(_ samples: Transplant.Samples, of movie: Movie) {
        boxes.removeAll { Self.ofSamples.contains($0.type) }
        let shown = movie.samples.times.sorted()
        let times = samples.ranks.map { shown[$0] }
        let offsets = zip(times, movie.samples.decodeTimes).map { $0 - $1 }
        let least = offsets.min() ?? 0
        if offsets.contains(where: { $0 != 0 }) {
            // Negative offsets require version 1; QuickTime has signed offsets in version 0 and no other version.
            let version = movie.isQuickTime || least >= 0 ? 0 : 1
            boxes.append(Self.offsets(offsets, version: version))
        }
        if least < 0 {
            let bounds = [
                -least, least, offsets.max() ?? 0, shown.first ?? 0,
                (shown.last ?? 0) + movie.samples.lastDuration,
            ]
            if bounds.allSatisfy({ Int32(exactly: $0) != nil }) {
                boxes.append(
                    Self.table("cslg") { table in
                        for bound in bounds { table.add(bound, 4) }
                    })
            }
        }
        if samples.syncSamples.count < samples.sizes.count {
            boxes.append(
                Self.table("stss") { table in
                    table.add(samples.syncSamples.count, 4)
                    for sample in samples.syncSamples { table.add(sample + 1, 4) }
                })
        }
        boxes.append(
            Self.table("stsz") { table in
                table.add(0, 4)
                table.add(samples.sizes.count, 4)
                for size in samples.sizes { table.add(size, 4) }
            })
    }

    /// Returns a `ctts`, in which equal neighbours are run-length coded.
    private static func offsets(_ offsets: [Int], version: Int) -> MovieBox {
        var runs: [(count: Int, offset: Int)] = []
        for offset in offsets {
            if runs.last?.offset == offset {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((1, offset))
            }
        }
        return table("ctts", version: version) { table in
            table.add(runs.count, 4)
            for run in runs {
                table.add(run.count, 4)
                table.add(run.offset, 4)
            }
        }
    }

    private static func table(
        _ type: BoxType, version: Int = 0, _ content: (inout ByteWriter) -> Void
    ) -> MovieBox {
        var writer = ByteWriter()
        writer.add(version, 1)
        writer.add(0, 3)
        content(&writer)
        return MovieBox(type, writer.bytes)
    }

    /// Replaces the single entry of the `stsd` in a `stbl`.
    mutating func replaceEntry(by entry: SampleEntry) {
        change("stsd") { box in
            let old = box.bytes.dropFirst(8).prefix(box.bytes.number(at: 8, 4))
            box.bytes = Array(box.bytes.prefix(8)) + entry.replacing(old)
        }
    }

    /// Changes a `trak` to pictures of this size, and to another matrix unless it is nil.
    ///
    /// Pixels keep their aspect: the displayed size grows with the pictures. If the size changes, apertures (`clap`, `tapt`), which
    /// count old pixels, are removed.
    mutating func show(
        _ size: (width: Int, height: Int), _ matrix: MovieMatrix?, _ track: MovieTrack
    ) {
        let old = track.frameSize
        let isSame = old == size || old.width == 0 || old.height == 0
        let width = isSame ? track.width : (track.width * size.width + old.width / 2) / old.width
        let height =
            isSame ? track.height : (track.height * size.height + old.height / 2) / old.height
        change("tkhd") { box in
            let offset = MovieTrack.Header(box.bytes).matrix
            if let matrix = matrix ?? (isSame ? nil : track.matrix) {
                box.bytes.replaceSubrange(
                    offset..<offset + MovieMatrix.length,
                    with: matrix.bytes(width: width, height: height))
            }
            guard !isSame else { return }
            var sides = ByteWriter()
            for side in [width, height] { sides.add(side << 16, 4) }
            let end = offset + MovieMatrix.length
            box.bytes.replaceSubrange(end..<end + sides.bytes.count, with: sides.bytes)
        }
        guard !isSame else { return }
        boxes.removeAll { $0.type == "tapt" }
        change("mdia", "minf", "stbl", "stsd") { box in
            let entry = SampleEntry.without("clap", box.bytes.dropFirst(8))
            box.bytes = Array(box.bytes.prefix(8)) + entry
        }
    }

    /// Replaces each occurrence of a text in a `moov`'s metadata with one of the same length.
    mutating func rename(_ old: String, to new: String) {
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        guard !old.isEmpty, old.count == new.count else { return }
        change("meta") { box in
            var offset = 0
            while offset + old.count <= box.bytes.count {
                if box.bytes[offset] == old[0],
                    box.bytes[offset..<offset + old.count].elementsEqual(old)
                {
                    box.bytes.replaceSubrange(offset..<offset + old.count, with: new)
                    offset += old.count
                } else {
                    offset += 1
                }
            }
        }
    }

    /// Converts the offsets of a `trak` to eight bytes each.
    mutating func makeOffsets(isLong: Bool) {
        guard isLong else { return }
        change("mdia", "minf", "stbl") { table in
            guard let index = table.boxes.firstIndex(where: { $0.type == "stco" }) else { return }
            let old = table.boxes[index].bytes
            let count = old.number(at: 4, 4)
            table.boxes[index] = MovieBox(
                "co64", Array(old.prefix(8)) + [UInt8](repeating: 0, count: 8 * count))
        }
    }

    /// Sets the offsets of a `trak`; their number must be unchanged.
    mutating func setOffsets(_ offsets: [Int]) {
        change("mdia", "minf", "stbl") { table in
            let isLong = table["co64"] != nil && table["stco"] == nil
            table.change(isLong ? "co64" : "stco") { box in
                var writer = ByteWriter()
                writer.add(box.bytes.prefix(8))
                for offset in offsets { writer.add(offset, isLong ? 8 : 4) }
                // Bytes after the entries are kept, so that the box has the same length.
                writer.add(box.bytes.dropFirst(writer.bytes.count))
                box.bytes = writer.bytes
            }
        }
    }
}

/// The four bytes of a box's type, which are not always ASCII, as `©xyz` shows.
public struct BoxType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    let code: UInt32

    init(_ code: UInt32) { self.code = code }

    /// Creates a type from four characters of ISO 8859-1.
    public init(stringLiteral name: StaticString) {
        let bytes = name.description.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        precondition(bytes.count == 4, "\(name) is no type of a box")
        code = bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Creates a type from the four characters of ``description``; nil for another number of them.
    public init?(_ characters: String) {
        let codes = characters.unicodeScalars.map(\.value)
        guard codes.count == 4, codes.allSatisfy({ $0 < 256 }) else { return nil }
        code = codes.reduce(0) { $0 << 8 | $1 }
    }

    /// The four bytes.
    public var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: code >> (24 - 8 * $0)) } }

    public var description: String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
