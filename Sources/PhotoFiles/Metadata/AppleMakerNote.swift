/// Reads and changes the used parts of Apple's MakerNote.
///
/// It is a TIFF directory whose offsets count from the note's first byte: `Apple iOS\0`, a version, the byte order, and from byte
/// 14 on the directory (exiftool's Apple.pm). The bytes are untrusted.
public enum AppleMakerNote {
    /// Returns the identifier that the still of a Live Photo shares with its video; nil if there is none.
    ///
    /// - Parameter exif: a TIFF structure, with or without `Exif\0\0` before it.
    public static func contentIdentifier(inEXIF exif: [UInt8]) -> String? {
        note(inEXIF: exif).flatMap(contentIdentifier(inNote:))
    }

    /// Returns tags 0x21 and 0x30, from which Apple computes the headroom of a gain map; nil if one is missing.
    ///
    /// - Parameter exif: a TIFF structure, with or without `Exif\0\0` before it.
    public static func headroomTags(inEXIF exif: [UInt8]) -> (tag33: Double, tag48: Double)? {
        guard let tiff = note(inEXIF: exif).flatMap(directory),
            let entries = tiff.directory(at: directoryOffset),
            let first = entries[0x21].flatMap(tiff.signedFraction),
            let second = entries[0x30].flatMap(tiff.signedFraction)
        else { return nil }
        return (first, second)
    }

    /// Returns a note of the same length without the tags of ``headroomTags(inEXIF:)``; nil if it is not Apple's.
    static func withoutHeadroom(_ note: [UInt8]) -> [UInt8]? {
        guard var tiff = directory(ofNote: note) else { return nil }
        for tag in [0x21, 0x30] {
            guard let entries = tiff.directory(at: directoryOffset), let entry = entries[tag] else {
                continue
            }
            if let value = tiff.valueRange(entry), value.count == fractionBytes,
                value.lowerBound >= entries.range.upperBound
            {
                tiff.zero(value)
            }
            tiff.remove(entry, from: entries)
        }
        return Array(note[..<headerBytes] + tiff.bytes[headerBytes...])
    }

    /// Returns a note with another content identifier of the same length; nil if it has none of that length.
    static func renamed(_ note: [UInt8], to identifier: String) -> [UInt8]? {
        guard let old = contentIdentifier(inNote: note), old.utf8.count == identifier.utf8.count,
            var tiff = directory(ofNote: note),
            let range = tiff.directory(at: directoryOffset)?[contentIdentifierTag]
                .flatMap(tiff.valueRange)
        else { return nil }
        let text = Array(identifier.utf8)
        tiff.replace(range.lowerBound..<range.lowerBound + text.count, with: text)
        return Array(note[..<headerBytes] + tiff.bytes[headerBytes...])
    }

    private static let headerBytes = 8
    private static let fractionBytes = 8

    /// Returns the byte range of the note in a TIFF structure.
    static func noteRange(in tiff: TIFFBytes, _ exif: TIFFBytes.Directory) -> Range<Int>? {
        exif[makerNoteTag].flatMap(tiff.valueRange)
    }

    static func contentIdentifier(inNote note: [UInt8]) -> String? {
        guard let tiff = directory(ofNote: note),
            let entry = tiff.directory(at: directoryOffset)?[contentIdentifierTag],
            let range = tiff.valueRange(entry)
        else { return nil }
        return ContentIdentifier.text(tiff.bytes[range])
    }

    /// Returns the note's bytes.
    private static func note(inEXIF exif: [UInt8]) -> [UInt8]? {
        guard let tiff = TIFFBytes(Exif.withoutPrefix(exif)),
            let main = tiff.directory(at: tiff.firstDirectory),
            let offset = main[exifDirectoryTag].flatMap(tiff.number),
            let range = tiff.directory(at: offset).flatMap({ noteRange(in: tiff, $0) })
        else { return nil }
        return Array(tiff.bytes[range])
    }

    /// Returns the note as a TIFF structure whose directory is at ``directoryOffset``.
    private static func directory(ofNote note: [UInt8]) -> TIFFBytes? {
        guard note.starts(with: Array("Apple iOS\0".utf8)), note.count > directoryOffset,
            let header = header(order: Array(note[12..<14]))
        else { return nil }
        return TIFFBytes(header + note.dropFirst(header.count))
    }

    private static let directoryOffset = 14
    private static let exifDirectoryTag = 0x8769
    private static let makerNoteTag = 0x927C
    private static let contentIdentifierTag = 0x0011

    /// Returns the header of a TIFF, in the place of the note's first eight bytes, so that offsets stay valid.
    private static func header(order: [UInt8]) -> [UInt8]? {
        switch order {
        case Array("MM".utf8): order + [0, 42, 0, 0, 0, UInt8(directoryOffset)]
        case Array("II".utf8): order + [42, 0, UInt8(directoryOffset), 0, 0, 0]
        default: nil
        }
    }
}

/// The mark that both halves of a Live Photo share: in practice a UUID.
enum ContentIdentifier {
    /// Most bytes of one.
    static let bytesMax = 128

    /// Returns the text; nil if no camera writes such bytes.
    static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        let text = bytes.prefix { $0 != 0 }
        guard !text.isEmpty, text.count <= bytesMax,
            text.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The content identifier of a QuickTime movie, which it shares with its still.
///
/// It is the value of the key `com.apple.quicktime.content.identifier` in `moov/meta` (QuickTime File Format, "Metadata"). Only
/// headers of boxes and that box are read. They are untrusted.
public enum MovieIdentifier {
    private static let key = Array("com.apple.quicktime.content.identifier".utf8)

    /// Most boxes of one level that are read.
    private static let boxesMax = 256
    /// Most bytes of metadata that are read.
    private static let metadataBytesMax = 1 << 16

    /// Reads the identifier of a file.
    ///
    /// - Returns: nil if the file is no movie, has no such key, or exceeds the limits.
    public static func identifier(in file: FileWindow) -> String? {
        var file = file
        guard let movie = content("moov", in: 0..<file.length, &file),
            let metadata = content("meta", in: movie, &file)?.prefix(metadataBytesMax)
        else { return nil }
        // MPEG-4 begins with a version and flags, QuickTime with the first box.
        let isFullBox = file.big(metadata.startIndex, 4) == 0
        let inside = metadata.dropFirst(isFullBox ? 4 : 0)
        let range = inside.startIndex..<inside.endIndex
        guard let keys = content("keys", in: range, &file),
            let values = content("ilst", in: range, &file),
            let index = index(of: key, among: keys, &file),
            let item = item(index, in: values, &file),
            let data = content("data", in: item, &file), data.count > 8
        else { return nil }
        // A type and a locale precede the value.
        return ContentIdentifier.text(
            file.bytes(data.lowerBound + 8, min(data.count - 8, ContentIdentifier.bytesMax + 1)))
    }

    /// Returns the content of the first box of a type, if it is complete.
    private static func content(
        _ type: String, in range: Range<Int>, _ file: inout FileWindow
    ) -> Range<Int>? {
        guard let box = file.firstBox(type, in: range, atMost: boxesMax), !box.isCutOff else {
            return nil
        }
        return box.content
    }

    /// Returns the content of the value of a key, whose number is the box's type.
    private static func item(
        _ index: Int, in range: Range<Int>, _ file: inout FileWindow
    ) -> Range<Int>? {
        for box in file.boxes(in: range, atMost: boxesMax) where !box.isCutOff {
            if file.big(box.range.lowerBound + 4, 4) == index { return box.content }
        }
        return nil
    }

    /// Returns the number of a key, from 1 on, in the content of a box `keys`.
    private static func index(
        of key: [UInt8], among keys: Range<Int>, _ file: inout FileWindow
    ) -> Int? {
        var offset = keys.lowerBound + 8
        for index in 1...boxesMax {
            guard let length = file.big(offset, 4), length >= 8, length <= keys.upperBound - offset
            else { return nil }
            if length == 8 + key.count, file.bytes(offset + 8, key.count).elementsEqual(key) {
                return index
            }
            offset += length
        }
        return nil
    }
}
