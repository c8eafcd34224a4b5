/// EXIF read from the directories of a TIFF or camera RAW file, to be written to those of another.
///
/// Values do move here, so a MakerNote is kept only if its offsets count from its own start; the offsets of any other would become
/// wrong. Sources: TIFF 6.0 §2, EXIF 2.32 §4.6.
public struct ExifDirectories: Sendable {
    /// One value; its bytes are in the order given by ``isBigEndian``.
    struct Item: Sendable {
        let tag: Int
        let type: Int
        let count: Int
        /// The value, or the four bytes of an entry that is kept verbatim.
        let value: [UInt8]
        var isEntry = false
    }

    var main: [Item] = []
    var exif: [Item] = []
    var interoperability: [Item] = []
    var gps: [Item] = []
    let isBigEndian: Bool

    /// Most entries of a directory, and most bytes of a value, that are read.
    private static let entriesMax = 200
    private static let valueMax = 1 << 16

    /// Tags of the main directory about the photo, not about the storage of its pixels: description, make, model, orientation,
    /// resolution, software, date, artist, host, rating, copyright.
    private static let aboutThePhoto: Set<Int> = [
        0x010E, 0x010F, 0x0110, 0x0112, 0x011A, 0x011B, 0x0128, 0x0131, 0x0132, 0x013B, 0x013C,
        0x4746, 0x8298,
    ]
    private static let makerNote = 0x927C
    /// Prefixes of MakerNotes whose offsets count from their own start (exiftool's MakerNotes.pm).
    private static let movableNotes = [
        "Apple iOS\0", "FUJIFILM", "Nikon\0\u{2}", "OLYMPUS\0", "OM SYSTEM\0",
    ].map { Array($0.utf8) }

    private static let pointers = (exif: 0x8769, gps: 0x8825, interoperability: 0xA005)

    /// Reads a file with `read`, which returns `count` bytes from an offset, or fewer at the end.
    ///
    /// - Returns: nil if the file is no TIFF, or has no tags about the photo.
    public init?(_ read: (_ offset: Int, _ count: Int) -> [UInt8]) {
        guard let header = TIFFBytes(read(0, 8)) else { return nil }
        isBigEndian = header.isBigEndian
        let all = Self.items(at: header.firstDirectory, isBigEndian, read) { _ in true }
        func offset(_ tag: Int, among items: [Item]) -> Int? {
            items.first { $0.tag == tag && $0.value.count == 4 }
                .map { TIFFBytes.number($0.value[...], header.isBigEndian) }
        }
        main = all.filter { Self.aboutThePhoto.contains($0.tag) }
        if let start = offset(Self.pointers.exif, among: all) {
            let items = Self.items(at: start, isBigEndian, read) { _ in true }
            exif = items.filter { item in
                item.tag != Self.pointers.interoperability
                    && (item.tag != Self.makerNote
                        || Self.movableNotes.contains { item.value.starts(with: $0) })
            }
            if let start = offset(Self.pointers.interoperability, among: items) {
                interoperability = Self.items(at: start, isBigEndian, read) { _ in true }
            }
        }
        if let start = offset(Self.pointers.gps, among: all) {
            gps = Self.items(at: start, isBigEndian, read) { _ in true }
        }
        if main.isEmpty && exif.isEmpty && gps.isEmpty { return nil }
    }

    private static func items(
        at offset: Int, _ isBigEndian: Bool, _ read: (Int, Int) -> [UInt8],
        where isWanted: (Int) -> Bool
    ) -> [Item] {
        entries(at: offset, isBigEndian, read, atMost: entriesMax).compactMap { entry in
            guard let size = TIFFBytes.size(ofType: entry.type) else { return nil }
            let length = entry.count * size
            guard length > 0, length <= valueMax else { return nil }
            let value =
                length <= 4
                ? Array(entry.value.prefix(length))
                : read(TIFFBytes.number(entry.value[...], isBigEndian), length)
            guard value.count == length else { return nil }
            return Item(tag: entry.tag, type: entry.type, count: entry.count, value: value)
        }
    }

    /// Returns the entries of a directory as they are stored; none if it is truncated.
    fileprivate static func entries(
        at offset: Int, _ isBigEndian: Bool, _ read: (Int, Int) -> [UInt8], atMost max: Int
    ) -> [Item] {
        let countBytes = offset >= 8 ? read(offset, 2) : []
        guard countBytes.count == 2 else { return [] }
        let count = min(TIFFBytes.number(countBytes[...], isBigEndian), max)
        let entries = read(offset + 2, count * 12)
        guard entries.count == count * 12 else { return [] }
        return stride(from: 0, to: entries.count, by: 12).map { start in
            func number(_ from: Int, _ length: Int) -> Int {
                TIFFBytes.number(entries[start + from..<start + from + length], isBigEndian)
            }
            return Item(
                tag: number(0, 2), type: number(2, 2), count: number(4, 4),
                value: Array(entries[start + 8..<start + 12]), isEntry: true)
        }
    }

    /// Returns a TIFF structure of its own, without `Exif\0\0`.
    public func standalone() -> [UInt8] {
        let (bytes, start) = serialised(main, at: 8, isBigEndian)
        let order: [UInt8] = isBigEndian ? Array("MM".utf8) : Array("II".utf8)
        return order + TIFFBytes.bytes(of: 42, 2, isBigEndian)
            + TIFFBytes.bytes(of: start, 4, isBigEndian) + bytes
    }

    /// Returns the directories as bytes for offset `base` of their file, and the offset of the main one.
    func serialised(_ main: [Item], at base: Int, _ isBig: Bool) -> (bytes: [UInt8], main: Int) {
        var bytes: [UInt8] = []
        func append(_ items: [Item]) -> Int {
            if bytes.count % 2 == 1 { bytes.append(0) }
            let start = base + bytes.count
            bytes += Self.directory(items, at: start, isBig)
            return start
        }
        func pointer(_ tag: Int, to start: Int) -> Item {
            Item(tag: tag, type: 4, count: 1, value: TIFFBytes.bytes(of: start, 4, isBig))
        }
        func ordered(_ items: [Item]) -> [Item] {
            items.map { isBig == isBigEndian || $0.isEntry ? $0 : $0.swapped() }
        }
        var (main, exif) = (main, ordered(exif))
        main = ordered(main)
        if !interoperability.isEmpty {
            let start = append(ordered(interoperability))
            exif.append(pointer(Self.pointers.interoperability, to: start))
        }
        if !exif.isEmpty { main.append(pointer(Self.pointers.exif, to: append(exif))) }
        if !gps.isEmpty { main.append(pointer(Self.pointers.gps, to: append(ordered(gps)))) }
        let start = append(main)
        return (bytes, start)
    }

    private static func directory(_ items: [Item], at start: Int, _ isBig: Bool) -> [UInt8] {
        var head = TIFFBytes.bytes(of: items.count, 2, isBig)
        var tail: [UInt8] = []
        let tailStart = start + 2 + 12 * items.count + 4
        for item in items.sorted(by: { $0.tag < $1.tag }) {
            head +=
                TIFFBytes.bytes(of: item.tag, 2, isBig) + TIFFBytes.bytes(of: item.type, 2, isBig)
            head += TIFFBytes.bytes(of: item.count, 4, isBig)
            if item.value.count <= 4 {
                head += item.value + [UInt8](repeating: 0, count: 4 - item.value.count)
            } else {
                head += TIFFBytes.bytes(of: tailStart + tail.count, 4, isBig)
                tail += item.value + (item.value.count % 2 == 1 ? [0] : [])
            }
        }
        return head + [0, 0, 0, 0] + tail
    }
}

extension ExifDirectories.Item {
    /// Returns the value in the other byte order.
    fileprivate func swapped() -> Self {
        // A rational is two numbers of four bytes each.
        let width = [5, 10].contains(type) ? 4 : TIFFBytes.size(ofType: type) ?? 1
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: value.count, by: width) {
            bytes += value[start..<min(start + width, value.count)].reversed()
        }
        return Self(tag: tag, type: type, count: count, value: bytes)
    }
}

/// EXIF, IPTC and paths to be appended to a finished TIFF file.
public struct TIFFGraft: Sendable {
    /// The bytes to append to the file.
    public let bytes: [UInt8]
    /// The new bytes 4 to 7 of the file: the offset of its new directory.
    public let link: [UInt8]

    private static let iptcTag = 0x83BB
    private static let resourcesTag = 0x8649
    private static let byte = 1
    private static let undefined = 7
    /// Offsets of a TIFF have 32 bits; a BigTIFF gets no EXIF.
    private static let lengthMax = Int(UInt32.max)

    /// Prepares the change of a file with one directory.
    ///
    /// - Parameters:
    ///   - exif: a TIFF structure, or nil.
    ///   - iptc: IPTC records with their digest, or nil.
    ///   - paths: Photoshop's, or nil.
    ///   - length: bytes of the file.
    ///   - read: returns bytes of the file from an offset.
    /// - Returns: nil if there is nothing to append, or the file is no classic TIFF.
    public init?(
        exif: [UInt8]?, iptc: IPTC?, paths: PhotoshopPaths? = nil, length: Int,
        _ read: (_ offset: Int, _ count: Int) -> [UInt8]
    ) {
        guard let file = TIFFBytes(read(0, 8)), length < Self.lengthMax - (1 << 24) else {
            return nil
        }
        let isBig = file.isBigEndian
        let source = exif.flatMap { exif in
            ExifDirectories { offset, count in
                Array(exif.dropFirst(offset).prefix(count))
            }
        }
        var main = ExifDirectories.entries(at: file.firstDirectory, isBig, read, atMost: .max)
        let resources = IPTC.tiffResources(iptc, paths)
        guard !main.isEmpty, source != nil || iptc != nil || resources != nil else { return nil }
        // Tags of the writer of the pixels take precedence over the original's.
        let present = Set(main.map(\.tag))
        main += (source?.main ?? []).filter { !present.contains($0.tag) }
        if let iptc {
            main.append(
                ExifDirectories.Item(
                    tag: Self.iptcTag, type: Self.undefined, count: iptc.records.count,
                    value: iptc.records))
        }
        if let resources {
            main.append(
                ExifDirectories.Item(
                    tag: Self.resourcesTag, type: Self.byte, count: resources.count,
                    value: resources))
        }
        // Directories must begin at even offsets.
        let padding = [UInt8](repeating: 0, count: length % 2)
        let directories = source ?? ExifDirectories(newInOrder: isBig)
        let (bytes, start) = directories.serialised(main, at: length + padding.count, isBig)
        self.bytes = padding + bytes
        link = TIFFBytes.bytes(of: start, 4, isBig)
    }

    /// Returns about how many bytes a file becomes longer by.
    public static func length(exif: [UInt8]?, iptc: IPTC?, paths: PhotoshopPaths?) -> Int {
        // One tag, the width.
        let file: [UInt8] = [
            0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0, 1, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
        ]
        let graft = TIFFGraft(exif: exif, iptc: iptc, paths: paths, length: file.count) {
            offset, count in
            Array(file.dropFirst(offset).prefix(count))
        }
        return graft?.bytes.count ?? 0
    }
}

extension ExifDirectories {
    init(newInOrder isBigEndian: Bool) { self.isBigEndian = isBigEndian }
}
