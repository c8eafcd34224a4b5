import Edits

/// Updates EXIF in place: values are overwritten and pointers are removed, but nothing moves.
///
/// A MakerNote's offsets count from an offset outside of itself, by rules that only its maker knows, so a library that rewrites EXIF
/// breaks it. Sources: EXIF 2.32 (CIPA DC-008) §4.5 and §4.6 for directories and tags, TIFF 6.0 §2 for their layout. The bytes are
/// untrusted.
public enum Exif {
    /// Returns EXIF updated with the facts of a rendered picture.
    ///
    /// Orientation, dimensions and colour space are corrected if they are present, never added. The thumbnail, which shows the
    /// original, is removed with its directory, and so is the location if requested, with all entries that might have it
    /// (``PlacelessExif``); the bytes of all are zeroed or cut off, not only unlinked.
    ///
    /// - Parameter bytes: a TIFF structure, with or without `Exif\0\0` before it.
    /// - Returns: bytes of the same form, or nil if they contain no readable directory: the picture is then better without them.
    public static func revised(_ bytes: [UInt8], to facts: PictureFacts) -> [UInt8]? {
        guard bytes.starts(with: prefix) else {
            return ExifEditor(bytes)?.revised(to: facts)
        }
        return ExifEditor(Array(bytes.dropFirst(prefix.count)))?.revised(to: facts)
            .map { prefix + $0 }
    }

    /// EXIF that only states that the picture is upright; little-endian, without `Exif\0\0`.
    public static let upright: [UInt8] =
        Array("II*\0".utf8) + [8, 0, 0, 0] + [1, 0]
        + [
            UInt8(Tag.orientation & 0xFF), UInt8(Tag.orientation >> 8), 3, 0, 1, 0, 0, 0, 1, 0, 0,
            0,
        ]
        + [0, 0, 0, 0]

    static let prefix = Array("Exif\0\0".utf8)

    /// Returns the orientation, 1 to 8; nil if there is none.
    public static func orientation(_ bytes: [UInt8]) -> Int? {
        guard let tiff = TIFFBytes(withoutPrefix(bytes)),
            let value = tiff.directory(at: tiff.firstDirectory)?[Tag.orientation]
                .flatMap(tiff.number), (1...8).contains(value)
        else { return nil }
        return value
    }

    /// Returns the bare TIFF structure, the form in PNG and JPEG XL.
    public static func withoutPrefix(_ bytes: [UInt8]) -> [UInt8] {
        bytes.starts(with: prefix) ? Array(bytes.dropFirst(prefix.count)) : bytes
    }
}

/// The tags that the editor reads (EXIF 2.32, tables 3 to 18).
private enum Tag {
    static let imageWidth = 0x0100
    static let imageLength = 0x0101
    static let orientation = 0x0112
    static let thumbnailOffset = 0x0201
    static let thumbnailLength = 0x0202
    static let exifDirectory = 0x8769
    static let gpsDirectory = 0x8825
    static let interoperabilityDirectory = 0xA005
    static let colourSpace = 0xA001
    static let pixelXDimension = 0xA002
    static let pixelYDimension = 0xA003
    static let subjectArea = 0x9214
    static let subjectLocation = 0xA214
}

/// One pass over the directories: ranges to keep and to remove are collected first, then bytes change.
private struct ExifEditor {
    private var tiff: TIFFBytes
    private let original: TIFFBytes
    private var kept: [Range<Int>] = []
    private var gone: [Range<Int>] = []
    /// The tags of entries that are removed, by the offset of their directory.
    private var removed: [Int: Set<Int>] = [:]

    init?(_ bytes: [UInt8]) {
        guard let tiff = TIFFBytes(bytes) else { return nil }
        self.tiff = tiff
        original = tiff
    }

    /// Notes the bytes of a directory that stays, or of one that goes.
    ///
    /// - Parameter keeps: whether an entry stays.
    private mutating func note(
        _ directory: TIFFBytes.Directory, stays: Bool = true, keeps: (TIFFBytes.Entry) -> Bool
    ) {
        guard stays else {
            gone += [directory.range] + directory.entries.compactMap(original.valueRange)
            return
        }
        kept.append(directory.range)
        // Of entries of one tag all go: readers differ in which one they take.
        let tags = Set(directory.entries.filter { !keeps($0) }.map(\.tag))
        removed[directory.range.lowerBound, default: []].formUnion(tags)
        for entry in directory.entries {
            guard let range = original.valueRange(entry) else { continue }
            if tags.contains(entry.tag) { gone.append(range) } else { kept.append(range) }
        }
    }

    func revised(to facts: PictureFacts) -> [UInt8]? {
        var editor = self
        return editor.revise(to: facts)
    }

    private mutating func revise(to facts: PictureFacts) -> [UInt8]? {
        guard let main = original.directory(at: original.firstDirectory) else { return nil }
        let gps = directory(main[Tag.gpsDirectory])
        let exif = directory(main[Tag.exifDirectory])
        var placeless = PlacelessExif(original, main)
        func note(_ entries: TIFFBytes.Directory, as directory: PlacelessExif.Directory) {
            self.note(entries) {
                !facts.removesLocation || placeless.keeps($0, of: directory)
            }
        }
        note(main, as: .main)
        if let exif {
            note(exif, as: .exif)
            if let other = directory(exif[Tag.interoperabilityDirectory]) {
                note(other, as: .interoperability)
            }
        }
        if let gps { self.note(gps, stays: !facts.removesLocation) { _ in true } }
        if let thumbnail = original.directory(at: main.next) {
            self.note(thumbnail, stays: false) { _ in false }
            if let start = thumbnail[Tag.thumbnailOffset].flatMap(original.number),
                let count = thumbnail[Tag.thumbnailLength].flatMap(original.number),
                let range = original.range(start, count)
            {
                gone.append(range)
            }
        }
        if facts.removesLocation {
            // Bytes that no kept entry refers to may be a part of a removed one.
            gone.append(Self.headerBytes..<original.bytes.count)
        }
        zeroRemoved()
        correct(main, exif, facts)
        if let exif {
            if !facts.hasGainMap { removeHeadroom(exif) }
            if let identifier = facts.contentIdentifier { rename(exif, to: identifier) }
            if facts.positions != .same { moveSubject(exif, facts.positions) }
        }
        tiff.setNext(of: main, to: 0)
        removeEntries()
        return tiff.bytes
    }

    private static let headerBytes = 8

    private mutating func removeEntries() {
        for (offset, tags) in removed.sorted(by: { $0.key < $1.key }) where !tags.isEmpty {
            guard let directory = tiff.directory(at: offset) else { continue }
            tiff.remove(tags, from: directory)
        }
    }

    /// Removes the gain-map tags of Apple's MakerNote.
    private mutating func removeHeadroom(_ exif: TIFFBytes.Directory) {
        guard let range = AppleMakerNote.noteRange(in: original, exif),
            let note = AppleMakerNote.withoutHeadroom(Array(tiff.bytes[range]))
        else { return }
        tiff.replace(range, with: note)
    }

    /// Replaces the content identifier in Apple's MakerNote.
    private mutating func rename(_ exif: TIFFBytes.Directory, to identifier: String) {
        guard let range = AppleMakerNote.noteRange(in: original, exif),
            let note = AppleMakerNote.renamed(Array(tiff.bytes[range]), to: identifier)
        else { return }
        tiff.replace(range, with: note)
    }

    /// Moves the subject to its position in the result, or removes it.
    private mutating func moveSubject(
        _ exif: TIFFBytes.Directory, _ positions: PictureFacts.Positions
    ) {
        var gone: [Int] = []
        for entry in exif.entries where [Tag.subjectArea, Tag.subjectLocation].contains(entry.tag) {
            let moved = tiff.shorts(entry).flatMap { SubjectArea($0) }?.moved(positions)
            if let moved {
                tiff.setShorts(entry, to: moved.numbers)
            } else {
                gone.append(entry.tag)
            }
        }
        removed[exif.range.lowerBound, default: []].formUnion(gone)
    }

    private func directory(_ entry: TIFFBytes.Entry?) -> TIFFBytes.Directory? {
        entry.flatMap(original.number).flatMap(original.directory)
    }

    /// Zeroes the removed ranges unless a kept value uses the same bytes, and cuts them off at the end.
    private mutating func zeroRemoved() {
        for range in Self.merged(gone) { tiff.zero(range) }
        for range in Self.merged(kept) { tiff.restore(range, from: original) }
        guard let last = gone.map(\.lowerBound).max() else { return }
        let end = max(last, kept.map(\.upperBound).max() ?? 0)
        if tiff.bytes[end...].allSatisfy({ $0 == 0 }) {
            tiff.bytes.removeLast(tiff.bytes.count - end)
        }
    }

    /// Merges ranges so that they do not overlap. A directory full of entries that all claim the whole file then costs no more than
    /// the file.
    private static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, range.lowerBound <= last.upperBound {
                let end = max(last.upperBound, range.upperBound)
                result[result.count - 1] = last.lowerBound..<end
            } else {
                result.append(range)
            }
        }
        return result
    }

    private mutating func correct(
        _ main: TIFFBytes.Directory, _ exif: TIFFBytes.Directory?, _ facts: PictureFacts
    ) {
        for (directory, values) in [
            (
                main,
                [
                    Tag.orientation: 1, Tag.imageWidth: facts.size.width,
                    Tag.imageLength: facts.size.height,
                ]
            ),
            (
                exif ?? main,
                [
                    Tag.pixelXDimension: facts.size.width,
                    Tag.pixelYDimension: facts.size.height,
                ]
            ),
        ] {
            for entry in directory.entries {
                if let value = values[entry.tag] { tiff.set(entry, to: value) }
            }
        }
        if let isSRGB = facts.newColourIsSRGB, let entry = exif?[Tag.colourSpace] {
            // EXIF 2.32 table 12: 1 is sRGB, everything else is "uncalibrated".
            tiff.set(entry, to: isSRGB ? 1 : 0xFFFF)
        }
    }
}
