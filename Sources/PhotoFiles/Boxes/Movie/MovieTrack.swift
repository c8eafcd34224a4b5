/// The properties of a movie's track that editing needs.
///
/// Source: ISO/IEC 14496-12 §8.3 to 8.6 and the QuickTime File Format.
public struct MovieTrack: Sendable {
    public let id: Int
    /// The kind of its samples: `vide`, `soun`, `meta` …
    public let handler: BoxType
    public let isEnabled: Bool
    /// The orientation of its pictures; nil for a matrix other than quarter turns and mirrorings.
    public let matrix: MovieMatrix?
    /// The size of the displayed pictures before the matrix, in whole pixels; 0 if there are none.
    public let width, height: Int
    /// Time units per second.
    public let timeScale: Int
    /// The codecs of its samples, by the sample descriptions: usually one.
    public let formats: [BoxType]
    /// The complete first sample description; empty if there is none.
    let entry: [UInt8]
    /// The names of all keys of its samples' values, of a track of such values; nil for another one, and if they cannot be read.
    let valueKeys: [String]?
    /// Whether it has no samples according to its tables.
    public let isEmpty: Bool
    public let isSelfContained: Bool
    /// The index of its box in `moov`.
    let boxIndex: Int

    /// Reads a `trak`.
    ///
    /// - Throws: `damaged` if a box is missing or too short.
    init(_ track: MovieBox, at boxIndex: Int) throws(MovieProblem) {
        self.boxIndex = boxIndex
        guard let header = track["tkhd"]?.bytes, let media = track["mdia", "mdhd"]?.bytes,
            let kind = track["mdia", "hdlr"]?.bytes, kind.count >= 12,
            let table = track["mdia", "minf", "stbl"], let descriptions = table["stsd"]?.bytes
        else { throw .damaged("a track without tkhd, mdhd, hdlr or stsd") }
        let layout = Header(header)
        guard header.count >= layout.matrix + MovieMatrix.length + 8 else {
            throw .damaged("a tkhd of \(header.count) bytes")
        }
        isEnabled = header[3] & 1 == 1
        id = header.number(at: layout.id, 4)
        let at = layout.matrix
        matrix = MovieMatrix(Array(header[at..<at + MovieMatrix.length]))
        width = header.number(at: at + MovieMatrix.length, 2)
        height = header.number(at: at + MovieMatrix.length + 4, 2)
        handler = BoxType(UInt32(kind.number(at: 8, 4)))
        timeScale = media.number(at: media.first == 1 ? 20 : 12, 4)
        let entries = try Self.entries(of: descriptions)
        formats = entries.map { entry in BoxType(UInt32(entry.number(at: 4, 4))) }
        entry = entries.first.map { Array($0) } ?? []
        valueKeys = Self.valueKeys(of: entries)
        // Both kinds of size tables have their count at the same offset (ISO/IEC 14496-12 §8.7.3).
        isEmpty = (table["stsz"] ?? table["stz2"])?.bytes.number(at: 8, 4) == 0
        isSelfContained = Self.isSelfContained(track["mdia", "minf", "dinf", "dref"]?.bytes)
    }

    /// The size of the coded frames in pixels, by the first sample description (ISO/IEC 14496-12 §12.1.3); 0 if it does not
    /// describe pictures.
    public var frameSize: (width: Int, height: Int) {
        (entry.number(at: SampleEntry.sizeAt, 2), entry.number(at: SampleEntry.sizeAt + 2, 2))
    }

    /// The offsets in a `tkhd`, whose times have four or eight bytes.
    struct Header {
        let id, matrix: Int

        init(_ header: [UInt8]) {
            (id, matrix) = header.first == 1 ? (20, 52) : (12, 40)
        }
    }

    /// Returns the complete entries of a `stsd`.
    static func entries(of descriptions: [UInt8]) throws(MovieProblem) -> [ArraySlice<UInt8>] {
        let count = descriptions.number(at: 4, 4)
        var entries: [ArraySlice<UInt8>] = []
        var rest = descriptions.dropFirst(8)
        while entries.count < count {
            let length = rest.number(at: 0, 4)
            guard rest.count >= 8, (8...rest.count).contains(length) else {
                throw .damaged("\(count) sample descriptions, of which \(entries.count) are there")
            }
            entries.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return entries
    }

    /// Returns the names of keys in descriptions of the format `mebx`; nil if one has another format, or no key.
    ///
    /// Source: QuickTime File Format, "Timed Metadata Media": after the data reference a table of keys, each of which is a box that has the name
    /// of the key, behind four bytes for its name space.
    private static func valueKeys(of entries: [ArraySlice<UInt8>]) -> [String]? {
        let header = 16
        var names: [String] = []
        for entry in entries {
            guard BoxType(UInt32(entry.number(at: 4, 4))) == "mebx",
                let tables = MovieBox.entries(of: entry.dropFirst(header)),
                let table = tables.first(where: { $0.type == "keys" }),
                let keys = MovieBox.entries(of: table.bytes[...]), !keys.isEmpty
            else { return nil }
            for key in keys {
                let declared = MovieBox.entries(of: key.bytes[...])?.filter { $0.type == "keyd" }
                guard let declared, declared.count == 1, declared[0].bytes.count > 4 else {
                    return nil
                }
                names.append(String(decoding: declared[0].bytes.dropFirst(4), as: UTF8.self))
            }
        }
        return names.isEmpty ? nil : names
    }

    /// Returns whether no data reference points to another file (flag 1 means this file; also for QuickTime's `alis`).
    private static func isSelfContained(_ references: [UInt8]?) -> Bool {
        guard let references else { return true }
        var rest = references.dropFirst(8)
        while rest.count >= 12 {
            let length = rest.number(at: 0, 4)
            guard length >= 12, rest.number(at: 9, 3) & 1 == 1 else { return false }
            rest = rest.dropFirst(length)
        }
        return true
    }
}

/// The turn and mirroring with which a track's pictures are displayed, as stored in `tkhd`.
///
/// Source: ISO/IEC 14496-12 §8.3.2 and the QuickTime File Format, "Matrices": (x, y) is displayed at (a·x + c·y + tx, b·x + d·y +
/// ty); a to d are 16.16 fixed-point numbers.
public struct MovieMatrix: Sendable, Hashable {
    /// Usually −1, 0 or 1.
    public let a, b, c, d: Int

    public static let upright = MovieMatrix(a: 1, b: 0, c: 0, d: 1)

    public init(a: Int, b: Int, c: Int, d: Int) { (self.a, self.b, self.c, self.d) = (a, b, c, d) }

    /// Creates the matrix that displays a picture like the EXIF orientation of this number.
    public init(orientation: Int) {
        switch orientation {
        case 2: self.init(a: -1, b: 0, c: 0, d: 1)
        case 3: self.init(a: -1, b: 0, c: 0, d: -1)
        case 4: self.init(a: 1, b: 0, c: 0, d: -1)
        case 5: self.init(a: 0, b: 1, c: 1, d: 0)
        case 6: self.init(a: 0, b: 1, c: -1, d: 0)
        case 7: self.init(a: 0, b: -1, c: -1, d: 0)
        case 8: self.init(a: 0, b: -1, c: 1, d: 0)
        default: self = .upright
        }
    }

    public var swapsSides: Bool { a == 0 }

    /// Returns this matrix followed by another.
    public func followed(by next: MovieMatrix) -> MovieMatrix {
        MovieMatrix(
            a: a * next.a + b * next.c, b: a * next.b + b * next.d,
            c: c * next.a + d * next.c, d: c * next.b + d * next.d)
    }

    /// The number of the EXIF orientation that displays a picture in the same way: 1 to 8.
    public var orientation: Int {
        switch (a, b, c, d) {
        case (-1, 0, 0, 1): 2
        case (-1, 0, 0, -1): 3
        case (1, 0, 0, -1): 4
        case (0, 1, 1, 0): 5
        case (0, 1, -1, 0): 6
        case (0, -1, -1, 0): 7
        case (0, -1, 1, 0): 8
        default: 1
        }
    }

    private static let one = 0x10000
    /// The one of the last column: a 2.30 fixed-point number.
    private static let lastOne = 0x4000_0000
    static let length = 36

    /// Reads the nine numbers; nil unless they are a turn by quarters, possibly with a mirroring.
    init?(_ bytes: [UInt8]) {
        let numbers = [0, 4, 12, 16].map { bytes.signed(at: $0) }
        let parts = numbers.map { $0 / Self.one }
        guard numbers.allSatisfy({ [-Self.one, 0, Self.one].contains($0) }),
            abs(parts[0] * parts[3] - parts[1] * parts[2]) == 1,
            bytes.number(at: 8, 4) == 0, bytes.number(at: 20, 4) == 0
        else { return nil }
        self.init(a: parts[0], b: parts[1], c: parts[2], d: parts[3])
    }

    /// Returns the nine numbers, with a translation so that a picture of this size begins at 0, 0.
    func bytes(width: Int, height: Int) -> [UInt8] {
        let left = min(0, a * width) + min(0, c * height)
        let top = min(0, b * width) + min(0, d * height)
        var writer = ByteWriter()
        for row in [[a, b, 0], [c, d, 0], [-left, -top]] {
            for number in row { writer.add(number * Self.one, 4) }
        }
        writer.add(Self.lastOne, 4)
        return writer.bytes
    }
}
