import Edits

/// The entries of EXIF that stay where the place of a photo is removed.
///
/// It is a list of those whose meaning is known and no place: makers put places into tags, notes and directories of their own, whose names
/// nobody can list. Sources: EXIF 2.32 (CIPA DC-008), tables 3 to 19; EXIF 3.0 for 0xA436 to 0xA43C; TIFF 6.0; Microsoft's tags of
/// Windows.
struct PlacelessExif {
    /// Of the first directory, of the one of EXIF, and of the one of interoperability.
    private static let main = tags(
        0xFE...0xFF, 0x100...0x103, 0x106...0x107, 0x10A...0x10A, 0x10D...0x112, 0x115...0x11F,
        0x128...0x129, 0x12D...0x12D, 0x131...0x132, 0x13B...0x13F, 0x142...0x145, 0x152...0x153,
        0x201...0x202, 0x211...0x214, 0x4746...0x4746, 0x4749...0x4749, 0x8298...0x8298,
        0x8769...0x8769, 0x882A...0x882A, 0x9C9B...0x9C9F, 0xC4A5...0xC4A5)
    private static let exif = tags(
        0x829A...0x829A, 0x829D...0x829D, 0x8822...0x8822, 0x8824...0x8824, 0x8827...0x8827,
        0x882A...0x882B, 0x8830...0x8835, 0x9000...0x9000, 0x9003...0x9004, 0x9010...0x9012,
        0x9101...0x9102, 0x9201...0x920A, 0x9214...0x9214, 0x9286...0x9286, 0x9290...0x9292,
        0x9400...0x9405, 0xA000...0xA005, 0xA20B...0xA20B, 0xA20E...0xA210, 0xA214...0xA215,
        0xA217...0xA217, 0xA300...0xA302, 0xA401...0xA40A, 0xA40C...0xA40C, 0xA420...0xA420,
        0xA430...0xA43C, 0xA460...0xA462, 0xA500...0xA500)
    private static let interoperability = tags(0x1...0x2, 0x1000...0x1002)

    private static func tags(_ ranges: ClosedRange<Int>...) -> Set<Int> {
        Set(ranges.joined())
    }

    enum Directory { case main, exif, interoperability }

    private static let makerNote = 0x927C
    private static let make = 0x010F
    /// Texts by the standards, whatever type a file states for them.
    private static let texts = tags(
        0x10D...0x110, 0x11D...0x11D, 0x131...0x132, 0x13B...0x13C, 0x8298...0x8298,
        0x8824...0x8824, 0x9003...0x9004, 0x9010...0x9012, 0x9286...0x9286, 0x9290...0x9292,
        0x9C9B...0x9C9F, 0xA004...0xA004, 0xA420...0xA420, 0xA430...0xA431, 0xA433...0xA43C)
    /// Types whose values are bytes: BYTE, ASCII, SBYTE and UNDEFINED. Readers show text of all of them.
    private static let ofBytes: Set = [1, 2, 6, 7]

    /// How often all bytes are searched at most. Few values of a file that is no attack overlap.
    private static let readsMax = 4

    private let tiff: TIFFBytes
    private let make: [UInt8]
    /// The bytes that may still be searched: what lies behind that many goes.
    private var bytesLeft: Int

    init(_ tiff: TIFFBytes, _ main: TIFFBytes.Directory) {
        self.tiff = tiff
        make = main[Self.make].flatMap { tiff.content($0) } ?? []
        bytesLeft = Self.readsMax * tiff.bytes.count
    }

    /// Whether an entry stays.
    mutating func keeps(_ entry: TIFFBytes.Entry, of directory: Directory) -> Bool {
        switch directory {
        case .main: guard Self.main.contains(entry.tag) else { return false }
        case .exif:
            guard Self.exif.contains(entry.tag) || entry.tag == Self.makerNote else {
                return false
            }
        case .interoperability:
            guard Self.interoperability.contains(entry.tag) else { return false }
        }
        // Of another type nobody knows the length.
        guard let size = TIFFBytes.size(ofType: entry.type) else { return false }
        let isOfBytes = Self.ofBytes.contains(entry.type)
        // One number, or two small ones.
        if entry.count * size <= 4, !isOfBytes { return true }
        // Out of bounds there is nothing to read.
        guard entry.count * size <= 4 || tiff.valueRange(entry) != nil else { return true }
        bytesLeft -= entry.count * size
        guard bytesLeft >= 0, let value = tiff.content(entry) else { return false }
        if directory == .exif, entry.tag == Self.makerNote, !keepsNote(value) { return false }
        let isText = directory == .interoperability ? isOfBytes : Self.texts.contains(entry.tag)
        return !(isText ? CoordinateText.isIn(value) : CoordinateText.isIn(data: value))
    }

    // MARK: Notes of makers

    /// The beginnings of notes, and the makers of notes without one, that have no field for a place, as far as exiftool 12.57 knows them.
    /// Others have some: Nikon's, Panasonic's, Pentax', Samsung's, Sony's, or are unknown.
    private static let placelessNotes = [
        "Apple iOS\0", "FUJIFILM", "OLYMPUS\0", "OLYMP\0", "OM SYSTEM\0",
    ].map {
        Array($0.utf8)
    }
    private static let placelessMakers = ["Canon"].map { Array($0.utf8) }

    private func keepsNote(_ note: [UInt8]) -> Bool {
        Self.placelessNotes.contains { note.starts(with: $0) }
            || Self.placelessMakers.contains { make.elementsEqual($0 + [0]) }
    }
}

extension TIFFBytes {
    /// The bytes of an entry's value, wherever they are; nil if they are out of bounds.
    func content(_ entry: Entry) -> [UInt8]? {
        guard let size = Self.size(ofType: entry.type) else { return nil }
        let length = entry.count * size
        if length <= 4 { return Array(bytes[entry.offset + 8..<entry.offset + 8 + length]) }
        return valueRange(entry).map { Array(bytes[$0]) }
    }
}
