public import Edits

extension Exif {
    /// Writes creator, rights, caption and date. Nothing moves but the directory that an entry is added to, so the offsets of a
    /// MakerNote stay true.
    ///
    /// Texts are UTF-8 in a field of ASCII, as the Metadata Working Group allows it (Guidelines 2.0 §2.4).
    ///
    /// - Parameters:
    ///   - changes: without placeholders.
    ///   - bytes: a TIFF structure, with or without `Exif\0\0` before it, or nil for none.
    ///   - size: of the picture, which new EXIF must state; nil in a TIFF, whose first directory states it.
    ///   - bytesMax: the most bytes that the result may have; values that do not fit are removed, so that none contradicts the XMP.
    ///   - caption: the photo's caption before; a comment that says the same is a copy of it.
    /// - Returns: bytes of the same form, a new structure, or nil if there is none and nothing to write.
    public static func written(
        _ changes: MetadataChanges, to bytes: [UInt8]?, size: PixelSize?, bytesMax: Int = .max,
        replacing caption: String? = nil
    ) -> [UInt8]? {
        var values = ExifValues(changes)
        let comment = bytes.flatMap { userComment(withoutPrefix($0)) }
        if ValueCopies.isCopy(comment: comment, of: caption, writing: changes) {
            values.exif[ExifTag.userComment] = .some(nil)
        }
        guard let bytes, var editor = ExifWriter(withoutPrefix(bytes), size) else {
            return ExifWriter.new(values, size).flatMap { $0.count <= bytesMax ? $0 : nil } ?? bytes
        }
        let hasPrefix = bytes.count > withoutPrefix(bytes).count
        editor.write(values)
        if editor.bytes.count > bytesMax, let original = ExifWriter(withoutPrefix(bytes), size) {
            editor = original
            editor.write(values.removals)
        }
        return (hasPrefix ? Array(bytes.prefix(prefix.count)) : []) + editor.bytes
    }

    /// Returns the user's comment: eight bytes that name its encoding, and a text (EXIF 2.32 §4.6.5).
    private static func userComment(_ bytes: [UInt8]) -> String? {
        guard let tiff = TIFFBytes(bytes), let main = tiff.directory(at: tiff.firstDirectory),
            let exif = main[ExifTag.exifDirectory].flatMap(tiff.number).flatMap(tiff.directory),
            let value = exif[ExifTag.userComment].flatMap({ tiff.content($0) }), value.count > 8
        else { return nil }
        let text = Array(value.dropFirst(8))
        guard value.starts(with: "UNICODE\0".utf8) else { return self.text(text) }
        let units = stride(from: 0, to: text.count - 1, by: 2).map { index -> UInt16 in
            UInt16(truncatingIfNeeded: TIFFBytes.number(text[index..<index + 2], tiff.isBigEndian))
        }
        return self.text(Array(String(decoding: units, as: UTF16.self).utf8))
    }

    /// Returns what EXIF says of a photo: creators, rights, caption, and date.
    static func texts(_ bytes: [UInt8]) -> PhotoTexts {
        guard let tiff = TIFFBytes(withoutPrefix(bytes)),
            let main = tiff.directory(at: tiff.firstDirectory)
        else { return PhotoTexts() }
        func text(_ tag: Int, in directory: TIFFBytes.Directory) -> String? {
            directory[tag].flatMap(tiff.ascii).flatMap(Self.text)
        }
        let exif = main[ExifTag.exifDirectory].flatMap(tiff.number).flatMap(tiff.directory)
        return PhotoTexts(
            creator: text(ExifTag.artist, in: main).map(names) ?? [],
            rights: text(ExifTag.copyright, in: main),
            caption: text(ExifTag.imageDescription, in: main),
            date: exif.flatMap { text(ExifTag.dateTimeOriginal, in: $0) }.flatMap(
                PhotoDate.init(exif:)))
    }

    /// Returns a text up to its NUL, or nil for one of spaces. What is no UTF-8 is Windows-1252, as exiftool reads it.
    static func text(_ bytes: [UInt8]) -> String? {
        let text = Array(bytes.prefix { $0 != 0 })
        let whole = String(validating: text, as: UTF8.self) ?? Windows1252.text(text)
        let trimmed = whole.unicodeScalars.reversed().drop { $0 == " " }.reversed()
        return trimmed.allSatisfy { $0 == " " }
            ? nil : String(String.UnicodeScalarView(trimmed))
    }

    /// Splits names at semicolons; a name in quotes may have some (Guidelines 2.0 §5.1.3).
    static func names(_ text: String) -> [String] {
        var names: [String] = []
        var name = ""
        var isQuoted = false
        func end() {
            let trimmed = name.drop { $0 == " " }
            let last = trimmed.lastIndex { $0 != " " }
            if let last { names.append(String(trimmed[...last])) }
            name = ""
        }
        for character in text {
            switch character {
            case "\"":
                isQuoted.toggle()
                name.append(character)
            case ";" where !isQuoted: end()
            default: name.append(character)
            }
        }
        end()
        return names.map { name in
            guard name.count >= 2, name.first == "\"", name.last == "\"" else { return name }
            return String(name.dropFirst().dropLast()).replacing("\"\"", with: "\"")
        }
    }

    /// Joins names for the field of an artist: with semicolons, and in quotes where a name has some.
    static func joined(_ names: [String]) -> String {
        names.map { name in
            name.contains(";") || name.first == "\""
                ? "\"" + name.replacing("\"", with: "\"\"") + "\"" : name
        }.joined(separator: "; ")
    }
}

extension PhotoDate {
    /// Reads `yyyy:MM:dd HH:mm:ss`; nil for zeros and spaces, with which cameras without a clock fill it.
    init?(exif text: String) {
        let numbers = text.split(whereSeparator: { !("0"..."9").contains($0) }).prefix(6)
            .compactMap { Int($0) }
        guard numbers.count >= 5 else { return nil }
        self.init(numbers[0], numbers[1], numbers[2], hour: numbers[3], minute: numbers[4])
    }
}

/// The tags that are written (EXIF 2.32, tables 3 to 8; 0x4746 and 0x4749 are Microsoft's).
private enum ExifTag {
    static let imageDescription = 0x010E
    static let artist = 0x013B
    static let userComment = 0x9286
    static let copyright = 0x8298
    static let exifDirectory = 0x8769
    static let gpsDirectory = 0x8825
    static let interoperabilityDirectory = 0xA005
    static let dateTimeOriginal = 0x9003
    static let offsetTimeOriginal = 0x9011
    static let version = 0x9000
    static let fractionOriginal = 0x9291
    static let subDirectories = 0x014A
    static let thumbnailOffset = 0x0201
    static let thumbnailLength = 0x0202
}

/// The new texts of tags; nil removes one.
private struct ExifValues {
    var main: [Int: String?] = [:]
    var exif: [Int: String?] = [:]
    /// Whether the photographer's part of the copyright is written; the editor's part stays.
    var rights: String??

    init(_ changes: MetadataChanges) {
        for (field, value) in changes.values {
            switch field {
            case .creator:
                main[ExifTag.artist] = .some(
                    value.texts.isEmpty ? nil : Exif.joined(value.texts))
            case .rights: rights = .some(value.literal)
            case .caption: main[ExifTag.imageDescription] = .some(value.literal)
            case .date:
                let date = value.date
                exif[ExifTag.dateTimeOriginal] = .some(
                    date.map { date in
                        String(date.text.prefix(19)).replacing("-", with: ":")
                            .replacing("T", with: " ")
                    })
                exif[ExifTag.offsetTimeOriginal] = .some(
                    date?.zone.map { $0 == "Z" ? "+00:00" : $0 })
                exif[ExifTag.fractionOriginal] = .some(date?.fraction)
            default: break
            }
            for tag in ValueCopies.exifMain[field] ?? [] { main[tag] = .some(nil) }
            for tag in ValueCopies.exif[field] ?? [] { exif[tag] = .some(nil) }
        }
        for tag in ValueCopies.exifOfFile where !changes.isEmpty { main[tag] = .some(nil) }
    }

    var removals: ExifValues {
        var removals = self
        removals.main = main.mapValues { _ in nil }
        removals.exif = exif.mapValues { _ in nil }
        if rights != nil { removals.rights = .some(nil) }
        return removals
    }
}

/// Writes values of a TIFF structure.
private struct ExifWriter {
    private var tiff: TIFFBytes
    var bytes: [UInt8] { tiff.bytes }
    /// The offset of the first directory, which moves when it grows.
    private var main: Int
    private let size: PixelSize?

    init?(_ bytes: [UInt8], _ size: PixelSize?) {
        self.size = size
        guard let tiff = TIFFBytes(bytes), tiff.directory(at: tiff.firstDirectory) != nil else {
            return nil
        }
        (self.tiff, main) = (tiff, tiff.firstDirectory)
    }

    /// Returns a structure with the values and what a photo must state beside them (EXIF 2.32 §4.6.8).
    static func new(_ values: ExifValues, _ size: PixelSize?) -> [UInt8]? {
        var directories = ExifDirectories(newInOrder: false)
        func ascii(_ tag: Int, _ text: String) -> ExifDirectories.Item {
            let value = Array(text.utf8) + [0]
            return ExifDirectories.Item(tag: tag, type: 2, count: value.count, value: value)
        }
        directories.main = values.main.compactMap { tag, text in text.map { ascii(tag, $0) } }
        if case .some(let rights?) = values.rights {
            directories.main.append(ascii(ExifTag.copyright, rights))
        }
        directories.exif = values.exif.compactMap { tag, text in text.map { ascii(tag, $0) } }
        guard !directories.main.isEmpty || !directories.exif.isEmpty else { return nil }
        let resolution: [UInt8] = [72, 0, 0, 0, 1, 0, 0, 0]
        directories.main += [
            .init(tag: 0x011A, type: 5, count: 1, value: resolution),
            .init(tag: 0x011B, type: 5, count: 1, value: resolution),
            .init(tag: 0x0128, type: 3, count: 1, value: [2, 0]),
            .init(tag: 0x0213, type: 3, count: 1, value: [1, 0]),
        ]
        if !directories.exif.isEmpty { directories.exif += mandatory(size) }
        return directories.standalone()
    }

    /// Version, version of FlashPix and a colour space that is not stated; of a compressed picture also the order of components and
    /// the sides, which a TIFF must not have there (EXIF 2.32, tables 19 and 20).
    private static func mandatory(
        _ size: PixelSize?, isBigEndian: Bool = false
    ) -> [ExifDirectories.Item] {
        func side(_ tag: Int, _ length: Int) -> ExifDirectories.Item {
            .init(
                tag: tag, type: 4, count: 1, value: TIFFBytes.bytes(of: length, 4, isBigEndian))
        }
        var items: [ExifDirectories.Item] = [
            .init(tag: 0x9000, type: 7, count: 4, value: Array("0232".utf8)),
            .init(tag: 0xA000, type: 7, count: 4, value: Array("0100".utf8)),
            .init(tag: 0xA001, type: 3, count: 1, value: [0xFF, 0xFF]),
        ]
        if let size {
            items += [
                .init(tag: 0x9101, type: 7, count: 4, value: [1, 2, 3, 0]),
                side(0xA002, size.width), side(0xA003, size.height),
            ]
        }
        return items
    }

    mutating func write(_ values: ExifValues) {
        var main = values.main.mapValues { $0.map { Array($0.utf8) + [0] } }
        if let rights = values.rights {
            let editor = editorsCopyright
            switch (rights, editor) {
            case (nil, nil): main[ExifTag.copyright] = .some(nil)
            case (let rights, let editor?):
                // A missing photographer is a space (EXIF 2.32 §4.6.5).
                main[ExifTag.copyright] = Array((rights ?? " ").utf8) + [0] + editor
            case (let rights?, nil): main[ExifTag.copyright] = Array(rights.utf8) + [0]
            }
        }
        let exif = values.exif.mapValues { $0.map { Array($0.utf8) + [0] } }
        if !exif.isEmpty { writeExif(exif) }
        self.main = write(main, to: self.main)
        tiff.setNumber(self.main, at: 4)
    }

    /// The part of the copyright after the photographer's, with its NUL; nil for none.
    private var editorsCopyright: [UInt8]? {
        guard let value = tiff.directory(at: main)?[ExifTag.copyright].flatMap(tiff.ascii),
            let end = value.firstIndex(of: 0)
        else { return nil }
        let editor = value[(end + 1)...].prefix { $0 != 0 }
        return editor.isEmpty ? nil : Array(editor) + [0]
    }

    private mutating func writeExif(_ values: [Int: [UInt8]?]) {
        guard let directory = tiff.directory(at: main) else { return }
        if let entry = directory[ExifTag.exifDirectory] {
            guard let old = tiff.number(entry), tiff.directory(at: old) != nil else { return }
            if case .some(.some) = values[ExifTag.offsetTimeOriginal] { raiseVersion(old) }
            let new = write(values, to: old)
            if new != old { tiff.setNumber(new, at: entry.offset + 8) }
            return
        }
        guard values.values.contains(where: { $0 != nil }) else { return }
        var entries = Self.mandatory(size, isBigEndian: tiff.isBigEndian).map {
            tiff.entry($0.tag, $0.type, $0.count, $0.value)
        }
        for (tag, value) in values {
            guard let value else { continue }
            entries.append(tiff.entry(tag, 2, value.count, stored(value)))
        }
        entries.sort { $0.tag < $1.tag }
        let start = tiff.append(entries.map(\.bytes), next: 0)
        let pointer = tiff.entry(ExifTag.exifDirectory, 4, 1, tiff.bytes(of: start))
        self.main = grown(directory, by: [pointer])
    }

    /// Makes EXIF state the version that has offsets of times, 2.31, if it states an earlier one.
    private mutating func raiseVersion(_ offset: Int) {
        let version = Array("0231".utf8)
        guard let entry = tiff.directory(at: offset)?[ExifTag.version], entry.count == 4,
            let known = tiff.ascii(entry), known.lexicographicallyPrecedes(version)
        else { return }
        tiff.setEntry(entry, 7, 4, version)
    }

    /// Returns the four bytes of an entry for a text: itself, or the offset at which it is appended.
    private mutating func stored(_ value: [UInt8]) -> [UInt8] {
        value.count <= 4
            ? value + [UInt8](repeating: 0, count: 4 - value.count)
            : tiff.bytes(of: tiff.append(value))
    }

    /// Writes texts into a directory; returns its new offset.
    private mutating func write(_ values: [Int: [UInt8]?], to offset: Int) -> Int {
        var added: [(tag: Int, bytes: [UInt8])] = []
        for (tag, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let directory = tiff.directory(at: offset) else { return offset }
            let entries = directory.entries.filter { $0.tag == tag }
            guard let value else {
                // A removal moves the entries after it, so the last one is the first to go.
                for entry in entries.reversed() {
                    guard let directory = tiff.directory(at: offset) else { return offset }
                    clear(entry)
                    tiff.remove(entry, from: directory)
                }
                continue
            }
            guard let entry = entries.first else {
                added.append(tiff.entry(tag, 2, value.count, stored(value)))
                continue
            }
            replace(entry, by: value)
        }
        guard !added.isEmpty, let directory = tiff.directory(at: offset) else { return offset }
        return grown(directory, by: added)
    }

    /// Overwrites a text if the new one fits, and appends it otherwise.
    private mutating func replace(_ entry: TIFFBytes.Entry, by value: [UInt8]) {
        if let old = tiff.valueRange(entry), value.count > 4, value.count <= old.count,
            isPrivate(old, of: entry)
        {
            tiff.replace(old, with: value + [UInt8](repeating: 0, count: old.count - value.count))
            tiff.setEntry(entry, 2, value.count, nil)
            return
        }
        clear(entry)
        tiff.setEntry(entry, 2, value.count, stored(value))
    }

    /// Zeroes the value of an entry unless other parts use the same bytes.
    private mutating func clear(_ entry: TIFFBytes.Entry) {
        if let range = tiff.valueRange(entry), isPrivate(range, of: entry) { tiff.zero(range) }
    }

    /// Returns the directory with further entries, appended; the old one is zeroed.
    private mutating func grown(
        _ directory: TIFFBytes.Directory, by added: [(tag: Int, bytes: [UInt8])]
    ) -> Int {
        var entries = directory.entries.map { entry in
            (tag: entry.tag, bytes: Array(tiff.bytes[entry.offset..<entry.offset + 12]))
        }
        for entry in added.sorted(by: { $0.tag < $1.tag }) {
            let place = entries.firstIndex { $0.tag > entry.tag } ?? entries.count
            entries.insert(entry, at: place)
        }
        let start = tiff.append(entries.map(\.bytes), next: directory.next)
        if isPrivate(directory.range, of: nil, but: directory) { tiff.zero(directory.range) }
        return start
    }

    /// Whether no other known part of the structure uses bytes of a range.
    private func isPrivate(
        _ range: Range<Int>, of owner: TIFFBytes.Entry?, but own: TIFFBytes.Directory? = nil
    ) -> Bool {
        guard range.lowerBound >= 8 else { return false }
        var open = [main]
        var seen: Set<Int> = []
        while let offset = open.popLast() {
            guard offset != 0, seen.insert(offset).inserted, seen.count <= Self.directoriesMax,
                let directory = tiff.directory(at: offset)
            else { continue }
            let isOwn = own?.range == directory.range
            if !isOwn, directory.range.overlaps(range) { return false }
            for entry in directory.entries where entry.offset != owner?.offset {
                if let used = tiff.valueRange(entry), used.overlaps(range) { return false }
                if Self.pointers.contains(entry.tag), let below = tiff.number(entry) {
                    open.append(below)
                }
            }
            if let start = directory[ExifTag.thumbnailOffset].flatMap(tiff.number),
                let count = directory[ExifTag.thumbnailLength].flatMap(tiff.number),
                let used = tiff.range(start, count), used.overlaps(range)
            {
                return false
            }
            open.append(directory.next)
        }
        return true
    }

    private static let pointers: Set = [
        ExifTag.exifDirectory, ExifTag.gpsDirectory, ExifTag.interoperabilityDirectory,
        ExifTag.subDirectories,
    ]
    private static let directoriesMax = 32
}

extension TIFFBytes {
    /// The bytes of an entry of ASCII, or of UNDEFINED and UTF-8 (EXIF 3.0), wherever they are; nil for other types.
    func ascii(_ entry: Entry) -> [UInt8]? {
        guard [2, 7, 129].contains(entry.type) else { return nil }
        if entry.count <= 4 {
            return Array(bytes[entry.offset + 8..<entry.offset + 8 + entry.count])
        }
        let offset = Self.number(bytes[entry.offset + 8..<entry.offset + 12], isBigEndian)
        return range(offset, entry.count).map { Array(bytes[$0]) }
    }

    func bytes(of offset: Int) -> [UInt8] { Self.bytes(of: offset, 4, isBigEndian) }

    /// Returns an entry of a directory.
    ///
    /// - Parameter value: its last four bytes, or fewer.
    func entry(
        _ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]
    ) -> (tag: Int, bytes: [UInt8]) {
        (
            tag,
            Self.bytes(of: tag, 2, isBigEndian) + Self.bytes(of: type, 2, isBigEndian)
                + Self.bytes(of: count, 4, isBigEndian) + value
                + [UInt8](repeating: 0, count: 4 - value.count)
        )
    }

    mutating func setEntry(_ entry: Entry, _ type: Int, _ count: Int, _ value: [UInt8]?) {
        let new = self.entry(entry.tag, type, count, value ?? [])
        bytes.replaceSubrange(entry.offset..<entry.offset + 8, with: new.bytes[..<8])
        if value != nil {
            bytes.replaceSubrange(entry.offset + 8..<entry.offset + 12, with: new.bytes[8...])
        }
    }

    mutating func setNumber(_ number: Int, at offset: Int) {
        bytes.replaceSubrange(offset..<offset + 4, with: bytes(of: number))
    }

    /// Appends bytes at an even offset; returns it.
    mutating func append(_ value: [UInt8]) -> Int {
        if bytes.count % 2 == 1 { bytes.append(0) }
        let start = bytes.count
        bytes += value
        return start
    }

    /// Appends a directory; returns its offset.
    mutating func append(_ entries: [[UInt8]], next: Int) -> Int {
        append(
            Self.bytes(of: entries.count, 2, isBigEndian) + entries.flatMap(\.self)
                + bytes(of: next))
    }
}
