import Edits

/// Descriptions of samples without the metadata in them.
///
/// Only boxes stay that a decoder or a player reads, each with the bytes that its own fields state: what a maker or a program adds (names of
/// reels, comments of FLAC, boxes of its own) may be a place. Sources: ISO/IEC 14496-12 §12, ISO/IEC 14496-15 §5 and §8, QuickTime File Format,
/// "Sample description atoms"; for sound the bindings of Opus, FLAC, Dolby and Apple.
extension MovieBox {
    /// Returns a `stsd` in which each description has only what is known; nil if descriptions are damaged.
    ///
    /// - Parameter handler: the kind of the track.
    func strippedDescriptions(_ strip: MovieStrip, of handler: BoxType) -> MovieBox? {
        let count = bytes.number(at: 4, 4)
        let entries = Self.read(bytes.dropFirst(8), atMost: count).entries
        guard entries.count == count else { return nil }
        return joined(
            entries.map { $0.strippedDescription(strip, of: handler) },
            behind: Array(bytes.prefix(8)))
    }

    private func strippedDescription(_ strip: MovieStrip, of handler: BoxType) -> MovieBox {
        let fixed = Self.fixedLength(of: handler, bytes)
        var kept = Array(bytes.prefix(fixed))
        if handler == "vide", kept.count >= fixed {
            let name = Self.compressorName
            if strip.leavesOut(name: kept[name]) {
                kept.replaceSubrange(name, with: repeatElement(0, count: name.count))
            }
        }
        // Lists of QuickTime may end with four bytes of zero, which have no meaning: some decoders miss them.
        let known = Self.known(of: handler)
        let (boxes, rest) = Self.read(bytes.dropFirst(fixed))
        let parts = boxes.compactMap { box -> MovieBox? in
            known.contains(box.type) ? box.strippedPart(strip) : nil
        }
        let isEnd = rest.count == 4 && rest.allSatisfy { $0 == 0 }
        return joined(parts, behind: kept, before: isEnd ? rest : [])
    }

    /// The place of an encoder's name, without length and type of the entry.
    private static let compressorName =
        SampleEntry.compressorName.lowerBound - 8..<SampleEntry.compressorName.upperBound - 8

    /// The length of an entry's fields before its boxes, without length and type.
    private static func fixedLength(of handler: BoxType, _ content: [UInt8]) -> Int {
        switch handler {
        case "vide": return SampleEntry.header - 8
        // Reserved bytes and a reference of data, and of time codes flags, a scale, a duration and a number of frames.
        case "tmcd": return 26
        case "soun":
            let version = content.number(at: 8, 2)
            // Version 2 states its length, with length and type of the entry.
            if version == 2 { return max(28, content.number(at: 28, 4) - 8) }
            // Version 1 of QuickTime has four numbers more, and that of MPEG-4 has none.
            let boxes = read(content.dropFirst(28)).entries
            return version == 1 && !boxes.contains { ofSounds.contains($0.type) } ? 44 : 28
        default: return 8
        }
    }

    private static func known(of handler: BoxType) -> Set<BoxType> {
        switch handler {
        case "vide": SampleEntry.ofCodecs.union(ofPictures)
        case "soun": ofSounds
        case "tmcd": ["name"]
        case "meta": ["keys", "lidp", "lidl", "btrt"]
        default: []
        }
    }

    /// Boxes of pictures besides those of codecs: colour, light, shape, fields, spheres.
    private static let ofPictures: Set<BoxType> = [
        "colr", "pasp", "clap", "fiel", "gama", "mdcv", "clli", "cclv", "SmDm", "CoLL", "chrm",
        "st3d", "sv3d",
    ]
    private static let ofSounds: Set<BoxType> = [
        "esds", "wave", "chan", "chnl", "srat", "pcmC", "btrt", "dac3", "dec3", "dac4", "alac",
        "dOps", "dfLa", "damr", "dmlp", "ddts", "udts", "mhaC", "SA3D", "sinf",
    ]
    /// Boxes of QuickTime's `wave`, which has the codec's, too.
    private static let ofWaves: Set<BoxType> = ["frma", "enda", "mp4a", "\0\0\0\0"]
    /// Boxes of a key of timed values: its name, the type of its values, their language, what reads them, and where they were found.
    private static let ofKeys: Set<BoxType> = [
        "keyd", "dtyp", "loca", "setu", "sdpd", "sdpi", "ctps",
    ]

    /// Returns what stays of a box that is known; nil if a place is written in it.
    private func strippedPart(_ strip: MovieStrip) -> MovieBox? {
        var box = self
        switch type {
        case "name": return strip.leavesOut(name: bytes[...]) ? nil : self
        case "keys": return strippedTimedKeys
        case "wave":
            guard let entries = Self.entries(of: bytes[...]) else { return nil }
            box = joined(
                entries.compactMap { entry -> MovieBox? in
                    let isKnown =
                        Self.ofWaves.contains(entry.type) || Self.ofSounds.contains(entry.type)
                    return isKnown && entry.type != "wave"
                        ? entry.strippedPart(strip) : nil
                }, behind: [])
        case "hvcC": box.bytes = HEVCConfiguration.withoutTexts(bytes)
        case "dfLa": box.bytes = Self.streamInfo(bytes)
        default: box.bytes = Array(bytes.prefix(lengthOfPart ?? bytes.count))
        }
        return CoordinateText.isIn(data: box.bytes) ? nil : box
    }

    /// A table of keys of timed values. Their names stay, because a track goes with a name that is not known.
    private var strippedTimedKeys: MovieBox? {
        guard let keys = Self.entries(of: bytes[...]) else { return nil }
        return joined(
            keys.map { key in
                let parts = Self.entries(of: key.bytes[...]) ?? []
                return key.joined(
                    parts.filter {
                        Self.ofKeys.contains($0.type) && !CoordinateText.isIn(data: $0.bytes)
                    }, behind: [])
            }, behind: [])
    }

    /// The bytes of a box that its fields state; nil for one of another form.
    private var lengthOfPart: Int? {
        switch type {
        case "fiel", "enda": return 2
        case "gama", "frma", "clli", "hfov": return 4
        case "pasp", "amve", "srat": return 8
        case "btrt": return 12
        case "mdcv", "dvcC", "dvvC", "dvwC": return 24
        case "clap": return 32
        case "colr":
            switch BoxType(UInt32(bytes.number(at: 0, 4))) {
            case "nclx": return 11
            case "nclc": return 10
            case "prof", "rICC": return 4 + bytes.number(at: 4, 4)
            default: return 0
            }
        case "avcC": return AVCConfiguration.length(of: bytes)
        // Behind version, flags and the description of samples, the length of what a decoder needs at first.
        case "vpcC": return 12 + bytes.number(at: 10, 2)
        case "esds": return lengthOfStream
        default: return nil
        }
    }

    /// The length of an `esds`: version and flags, a tag, and a length of seven bits a byte (ISO/IEC 14496-1 §8.3.3).
    private var lengthOfStream: Int? {
        var (length, offset) = (0, 5)
        for _ in 0..<4 {
            let byte = bytes.number(at: offset, 1)
            (length, offset) = (length << 7 | byte & 0x7F, offset + 1)
            if byte & 0x80 == 0 { return offset + length }
        }
        return nil
    }

    /// FLAC's first block, which decoders need, as the last one: others are comments and pictures (FLAC, "Encapsulation of FLAC in ISO Base
    /// Media File Format").
    private static func streamInfo(_ content: [UInt8]) -> [UInt8] {
        let header = 8
        let length = header + content.number(at: 5, 3)
        guard content.count >= length, content.number(at: 4, 1) & 0x7F == 0 else { return [] }
        var kept = Array(content.prefix(length))
        kept[4] = 0x80
        return kept
    }

    // MARK: Headers of media

    /// The header of QuickTime's media without pictures or sound: a mode of drawing, a matrix of texts, and how time codes are drawn, whose font
    /// has a name.
    func strippedMediaHeader(_ strip: MovieStrip) -> MovieBox {
        let entries = Self.entries(of: bytes[...]) ?? []
        return joined(
            entries.compactMap { entry -> MovieBox? in
                switch entry.type {
                case "gmin": return MovieBox("gmin", Array(entry.bytes.prefix(16)))
                case "text": return MovieBox("text", Array(entry.bytes.prefix(36)))
                case "tmcd":
                    let parts = Self.entries(of: entry.bytes[...]) ?? []
                    let drawn = parts.filter { $0.type == "tcmi" }.map { $0.withoutFont(strip) }
                    return entry.joined(drawn, behind: [])
                default: return nil
                }
            }, behind: [])
    }

    private func withoutFont(_ strip: MovieStrip) -> MovieBox {
        // Version and flags, font, face, size, a reserved number, and two colours.
        let fixed = 24
        let length = fixed + 1 + bytes.number(at: fixed, 1)
        let name = bytes.prefix(length).dropFirst(fixed + 1)
        guard bytes.count >= length, !strip.leavesOut(name: name) else {
            return MovieBox(type, Array(bytes.prefix(fixed)) + [0])
        }
        return MovieBox(type, Array(bytes.prefix(length)))
    }
}

extension AVCConfiguration {
    /// The length of a record with its parameter sets, in bytes; nil if it is damaged (ISO/IEC 14496-15 §5.3.3.1).
    fileprivate static func length(of record: [UInt8]) -> Int? {
        var end = 6
        func skipSets(_ count: Int) {
            for _ in 0..<count { end += 2 + record.number(at: end, 2) }
        }
        skipSets(record.number(at: 5, 1) & 0x1F)
        end += 1
        skipSets(record.number(at: end - 1, 1))
        // Profiles of more than 8 bits or 4:2:0 have the sampling and bits, and extensions of the sets; older programs write none.
        if [100, 110, 122, 144].contains(record.number(at: 1, 1)), record.count >= end + 4,
            record.number(at: end, 1) & 0xFC == 0xFC
        {
            end += 4
            skipSets(record.number(at: end - 1, 1))
        }
        return end <= record.count ? end : nil
    }
}

extension HEVCConfiguration {
    /// Returns a record without messages in which a place is written, and without bytes behind its sets; a damaged one as it is.
    ///
    /// Source: ISO/IEC 14496-15 §8.3.3.1: arrays of units of a type, of which 39 and 40 are messages (SEI), such as an encoder's options.
    fileprivate static func withoutTexts(_ record: [UInt8]) -> [UInt8] {
        let countAt = 22
        guard record.count > countAt else { return record }
        var kept = Array(record.prefix(countAt + 1))
        var offset = countAt + 1
        var count: UInt8 = 0
        for _ in 0..<record[countAt] {
            let start = offset
            let kind = record.number(at: start, 1) & 0x3F
            offset += 3
            for _ in 0..<record.number(at: start + 1, 2) {
                guard offset < record.count else { return record }
                offset += 2 + record.number(at: offset, 2)
            }
            guard offset <= record.count else { return record }
            let units = record[start..<offset]
            guard ![39, 40].contains(kind) || !CoordinateText.isIn(data: units) else { continue }
            kept += units
            count += 1
        }
        kept[countAt] = count
        return kept
    }
}
