public import Edits

/// The metadata of a photo in its three forms: what the photo says of itself, and what is written into it.
///
/// The rules are those of the Metadata Working Group (Guidelines 2.0): XMP has every value, EXIF four of them, and IIM those that it
/// has a place for, but only in a photo that has IIM.
public struct PhotoMetadata: Sendable, Equatable {
    /// EXIF as a TIFF structure, with or without `Exif\0\0` before it.
    public var exif: [UInt8]?
    public var xmp: [UInt8]?
    public var iptc: IPTC?

    public init(exif: [UInt8]? = nil, xmp: [UInt8]? = nil, iptc: IPTC? = nil) {
        (self.exif, self.xmp, self.iptc) = (exif, xmp, iptc)
    }
}

extension PhotoMetadata {
    /// Returns the metadata of a photo's result: true of it, stripped, and with what the output asks for.
    ///
    /// - Parameters:
    ///   - output: its metadata have no placeholders.
    ///   - exifMax: the most bytes of EXIF that its place holds.
    public func result(
        _ facts: PictureFacts, as output: Recipe.Output, exifMax: Int = .max
    ) -> PhotoMetadata {
        let size = output.format == .tiff ? nil : facts.size
        guard output.strip != .all else {
            var bare = PhotoMetadata()
            if output.keepsRights {
                _ = bare.write(
                    rights.replaced(by: output.metadata?.ofRights), size: size,
                    exifMax: exifMax)
            }
            return bare
        }
        var facts = facts
        facts.removesLocation = output.strip == .gps
        var result = PhotoMetadata(
            exif: exif.flatMap { Exif.revised($0, to: facts) },
            xmp: xmp.flatMap { XMP.revised($0, to: facts) },
            iptc: facts.removesLocation ? iptc?.withoutCoordinates : iptc)
        if let changes = output.metadata {
            _ = result.write(changes, size: size, exifMax: exifMax)
        }
        return result
    }

    /// Writes values; what is not named stays byte for byte.
    ///
    /// If the IIM is newer than the XMP, its other values are written into the XMP, too: the new digest says that both are the same,
    /// and readers then take the XMP's.
    ///
    /// - Parameters:
    ///   - changes: without placeholders.
    ///   - size: of the picture; nil in a TIFF.
    ///   - exifMax: the most bytes of EXIF that its place holds.
    /// - Returns: notes about values that were cut, for people.
    public mutating func write(
        _ changes: MetadataChanges, size: PixelSize?, exifMax: Int = .max
    ) -> [String] {
        var notes: [String] = []
        let before = texts
        var inXMP = changes
        if let iptc {
            let (written, cuts) = iptc.written(changes)
            if written != iptc, iptc.isNewerThanXMP {
                inXMP = iptc.reconciling(changes).replaced(by: changes)
            }
            self.iptc = written
            notes = cuts.map { cut in
                "metadata.\(cut.field.rawValue) is cut to \(cut.bytes) bytes in IPTC, which allows no more; EXIF and XMP have all of it"
            }
        }
        let (packet, isReplaced) = XMP.written(inXMP, to: xmp, replacing: before)
        xmp = packet
        if isReplaced { notes.append("the photo's XMP cannot be read and is replaced") }
        exif = Exif.written(
            changes, to: exif, size: size, bytesMax: exifMax, replacing: before.caption)
        return notes
    }

    /// The photo's own texts: EXIF first, then XMP, unless IIM is newer.
    public var texts: PhotoTexts {
        let exif = self.exif.map(Exif.texts) ?? PhotoTexts()
        let packet = xmp.flatMap { XMPWriter($0) }
        let xmp = packet?.texts ?? PhotoTexts()
        let iptc = self.iptc?.texts ?? PhotoTexts()
        let isNewer = self.iptc?.isNewerThanXMP ?? false
        let (first, second) = isNewer ? (iptc, xmp) : (xmp, iptc)
        func named(_ texts: PhotoTexts...) -> [String] {
            texts.first { !$0.creator.isEmpty }?.creator ?? []
        }
        return PhotoTexts(
            creator: named(exif, first, second),
            rights: exif.rights ?? first.rights ?? second.rights,
            title: first.title ?? second.title,
            caption: exif.caption ?? first.caption ?? second.caption,
            date: exif.date ?? first.date ?? second.date,
            tellsChange: packet.map { $0.has("xmp:ModifyDate") || $0.has("xmp:MetadataDate") }
                ?? false)
    }

    /// The changes that write creator and rights as the photo has them, where all else is removed: without texts that have coordinates.
    public var rights: MetadataChanges {
        let texts = texts.withoutCoordinates
        var values: [MetadataChanges.Field: MetadataChanges.Value] = [:]
        if !texts.creator.isEmpty {
            values[.creator] = .list(texts.creator.map { Placeholders(literal: $0) })
        }
        if let rights = texts.rights { values[.rights] = .text(Placeholders(literal: rights)) }
        return MetadataChanges(values)
    }
}

extension XMPWriter {
    fileprivate var texts: PhotoTexts {
        PhotoTexts(
            creator: texts("dc:creator"), rights: text("dc:rights"), title: text("dc:title"),
            caption: text("dc:description"),
            date: (text("photoshop:DateCreated") ?? text("exif:DateTimeOriginal")).flatMap(
                PhotoDate.init(xmp:)))
    }
}

extension PhotoDate {
    /// Reads `yyyy-MM-dd` and perhaps `THH:mm…`.
    init?(xmp text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= bytes.count else { return nil }
            return Int(String(decoding: bytes[range], as: UTF8.self))
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10) else {
            return nil
        }
        let isTimed = bytes.count > 10 && bytes[10] == UInt8(ascii: "T")
        self.init(
            year, month, day, hour: isTimed ? number(11..<13) : nil,
            minute: isTimed ? number(14..<16) : nil)
    }
}
