/// The properties of a movie's track that editing needs.
///
/// Source: ISO/IEC 14496-12 §8.3 to 8.6 and the QuickTime File Format.
public struct MovieTrack: Sendable {
    /// Its number in the file.
    public let id: Int
    /// The kind of its samples: `vide`, `soun`, `meta` …
    public let handler: BoxType
    /// Whether it is played.
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
    /// Whether it has no samples according to its tables.
    public let isEmpty: Bool
    /// Whether all samples are in this file.
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
