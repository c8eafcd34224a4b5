import Edits

/// Removing metadata from a `moov`.
extension MovieBox {
    /// Removes metadata, including unreadable metadata, and of the structures what they are not known to have.
    ///
    /// An empty box takes the place of one that is removed from a `moov`, so that the indices of its tracks stay the same.
    ///
    /// - Parameter tracks: the numbers of the tracks that stay, to which others may refer.
    mutating func strip(_ strip: MovieStrip, keeping tracks: Set<Int>) {
        guard strip != .none else { return }
        let outer = type
        boxes = boxes.compactMap { box in
            box.stripped(strip, keeping: tracks, in: outer)
                ?? (outer == "moov" ? MovieBox("free") : nil)
        }
        // A list may end with four bytes of zero, which have no meaning.
        tail = []
        let handler = self["mdia", "hdlr"].map { BoxType(UInt32($0.bytes.number(at: 8, 4))) }
        if handler == "vide" {
            change("mdia", "minf", "stbl", "stsd") { $0.stripDescriptions(strip) }
        }
    }

    /// Returns what stays of a box in another one; nil if it is removed.
    private func stripped(
        _ strip: MovieStrip, keeping tracks: Set<Int>, in outer: BoxType
    ) -> MovieBox? {
        if ["moov", "trak"].contains(outer) {
            if type == "udta" { return strippedUserData(strip) }
            if type == "meta" { return strippedMetadata(strip) }
        }
        guard MovieStrip.structures[outer]?.contains(type) == true else { return nil }
        var box = self
        guard MovieStrip.structures[type] == nil else {
            box.strip(strip, keeping: tracks)
            return box
        }
        switch type {
        case "mvhd", "tkhd", "mdhd":
            if strip == .all { box.clearDates() }
            return box.cut()
        case "hdlr":
            box.clearName(strip)
            return box
        case "tref": return references(to: tracks)
        case "dref": return dataReferences
        // The sides of apertures are two numbers of four bytes.
        case "tapt": return joined { $0.cut(to: 12) }
        // A region of ten bytes is a rectangle; what follows in others are shapes that no program shows any more.
        case "clip":
            return joined {
                $0.type == "crgn" && $0.bytes.number(at: 0, 2) == 10 ? $0.cut(to: 10) : nil
            }
        case "txas": return cut(to: 0)
        // Descriptions of samples are read by decoders, which know more of them than this.
        case "stsd": return self
        default: return cut()
        }
    }

    /// Returns the box with the bytes that its own fields state; without such fields all, or nil if a place is written in them.
    private func cut() -> MovieBox? {
        guard let length = statedLength else { return CoordinateText.isIn(bytes) ? nil : self }
        return cut(to: length)
    }

    private func cut(to length: Int) -> MovieBox { MovieBox(type, Array(bytes.prefix(length))) }

    /// Returns a list of references with those to tracks that stay; nil if there is none.
    private func references(to tracks: Set<Int>) -> MovieBox? {
        joined { list in
            let numbers = stride(from: 0, to: list.bytes.count - 3, by: 4).filter {
                tracks.contains(list.bytes.number(at: $0, 4))
            }
            guard !numbers.isEmpty else { return nil }
            return MovieBox(list.type, numbers.flatMap { list.bytes[$0..<$0 + 4] })
        }
    }

    /// The references to files, of which one to this file has nothing but its flags.
    private var dataReferences: MovieBox? {
        guard let entries = MovieBox.entries(of: bytes.dropFirst(8)) else { return nil }
        return joined(
            entries.map { $0.bytes.number(at: 0, 4) & 1 == 1 ? $0.cut(to: 4) : $0 },
            behind: Array(bytes.prefix(8)))
    }

    /// Returns the box with what stays of the boxes in it; nil if nothing does, or if it is no list.
    private func joined(_ kept: (MovieBox) -> MovieBox?) -> MovieBox? {
        let entries = MovieBox.entries(of: bytes[...])?.compactMap(kept) ?? []
        return entries.isEmpty ? nil : joined(entries, behind: [])
    }

    /// The length that a structure has according to its own fields, in bytes; nil for one of another form.
    ///
    /// Source: ISO/IEC 14496-12 §8.2 to 8.7 and §12.
    private var statedLength: Int? {
        let isLong = bytes.first == 1
        func table(_ entry: Int) -> Int { 8 + entry * bytes.number(at: 4, 4) }
        switch type {
        case "mvhd": return isLong ? 112 : 100
        case "tkhd": return isLong ? 96 : 84
        case "mdhd": return isLong ? 36 : 24
        case "vmhd": return 12
        case "smhd": return 8
        case "hmhd": return 20
        case "nmhd", "sthd": return 4
        case "elst": return table(isLong ? 20 : 12)
        case "stco", "stss", "stps": return table(4)
        case "stts", "ctts", "stsh", "co64": return table(8)
        case "stsc": return table(12)
        case "cslg": return isLong ? 44 : 24
        // Sizes, unless all samples have the same one.
        case "stsz": return 12 + (bytes.number(at: 4, 4) == 0 ? 4 * bytes.number(at: 8, 4) : 0)
        case "stz2": return 12 + (bytes.number(at: 7, 1) * bytes.number(at: 8, 4) + 7) / 8
        default: return nil
        }
    }

    /// Clears the names of encoders in descriptions of pictures, which programs let people write, and removes boxes in which a place is
    /// written.
    private mutating func stripDescriptions(_ strip: MovieStrip) {
        guard let entries = MovieBox.entries(of: bytes.dropFirst(8)) else { return }
        self = joined(
            entries.map { MovieBox($0.type, SampleEntry.stripped($0.bytes, strip)) },
            behind: Array(bytes.prefix(8)))
    }

    /// Clears the creation and modification times of a header: four bytes each, or eight in version 1 (ISO/IEC 14496-12 §8.2.2).
    private mutating func clearDates() {
        let end = bytes.first == 1 ? 20 : 12
        guard bytes.count >= end else { return }
        for index in 4..<end { bytes[index] = 0 }
    }

    /// Clears the name of a handler: the text of a version, flags, two types and 12 bytes (ISO/IEC 14496-12 §8.4.3). Zeros are an empty name in
    /// the forms of MPEG-4 and of QuickTime.
    private mutating func clearName(_ strip: MovieStrip) {
        let start = 24
        guard bytes.count > start, strip.leavesOut(name: bytes[start...]) else { return }
        bytes.replaceSubrange(
            start..., with: repeatElement(0, count: bytes.count - start))
    }

    private func strippedUserData(_ strip: MovieStrip) -> MovieBox? {
        guard strip == .location, let entries = MovieBox.entries(of: bytes[...]) else { return nil }
        return joined(
            entries.compactMap { entry in
                entry.type == "meta"
                    ? entry.strippedMetadata(strip) : strip.leavesOut(entry) ? nil : entry
            }, behind: [])
    }

    /// MPEG-4 begins with a version and flags, QuickTime with the first box.
    private func strippedMetadata(_ strip: MovieStrip) -> MovieBox? {
        let isFull = bytes.number(at: 0, 4) == 0
        let head = Array(bytes.prefix(isFull ? 4 : 0))
        guard let inner = MovieBox.entries(of: bytes.dropFirst(head.count)) else { return nil }
        // A key may be named as somebody likes.
        let names = inner.filter { ["hdlr", "keys"].contains($0.type) }
        guard !names.contains(where: { CoordinateText.isIn($0.bytes) }) else { return nil }
        let keys = inner.first { $0.type == "keys" }.map { MovieBox.keys(of: $0.bytes) }
        return joined(
            inner.compactMap { box in
                guard box.type == "ilst" else {
                    return ["hdlr", "keys"].contains(box.type) ? box : nil
                }
                guard let values = MovieBox.entries(of: box.bytes[...]) else { return nil }
                return box.joined(
                    values.filter { value in
                        guard let keys else { return !strip.leavesOut(value) }
                        // A value whose key is missing has no meaning, and may be one that must be removed.
                        let number = value.type.bytes[...].number(at: 0, 4)
                        return keys.indices.contains(number - 1)
                            && !strip.leavesOut(key: keys[number - 1], value)
                    }, behind: [])
            }, behind: head)
    }

    /// Returns the boxes of a list, each with its content unparsed; nil if it is no list.
    static func entries(of content: ArraySlice<UInt8>) -> [MovieBox]? {
        var (entries, rest) = ([MovieBox](), content)
        while rest.count >= 8 {
            let length = rest.number(at: 0, 4)
            if length == 0 { return entries }
            guard (8...rest.count).contains(length) else { return nil }
            let type = BoxType(UInt32(rest.number(at: 4, 4)))
            entries.append(MovieBox(type, Array(rest.prefix(length).dropFirst(8))))
            rest = rest.dropFirst(length)
        }
        return entries
    }

    /// Returns the names of keys in their order; an unreadable one is empty, and so are those after it.
    private static func keys(of content: [UInt8]) -> [String] {
        var (keys, rest) = ([String](), content[...].dropFirst(8))
        while rest.count >= 8 {
            let length = rest.number(at: 0, 4)
            guard (8...rest.count).contains(length) else { break }
            keys.append(String(decoding: rest.prefix(length).dropFirst(8), as: UTF8.self))
            rest = rest.dropFirst(length)
        }
        return keys
    }

    private func joined(_ entries: [MovieBox], behind head: [UInt8]) -> MovieBox {
        var writer = ByteWriter()
        writer.add(head)
        for entry in entries { entry.write(to: &writer) }
        // QuickTime's user data may end with four bytes of zero, which have no meaning.
        return MovieBox(type, writer.bytes)
    }
}

extension SampleEntry {
    /// Returns the content of an entry without a name of the encoder and boxes in which a place is written. Those of codecs stay.
    fileprivate static func stripped(_ content: [UInt8], _ strip: MovieStrip) -> [UInt8] {
        // The entry's length and type are in front of its content.
        let fixed = header - 8
        let name = compressorName.lowerBound - 8..<compressorName.upperBound - 8
        guard content.count >= fixed else { return content }
        var kept = Array(content.prefix(fixed))
        if strip.leavesOut(name: kept[name]) {
            kept.replaceSubrange(name, with: repeatElement(0, count: name.count))
        }
        var rest = content.dropFirst(fixed)
        while rest.count >= 8 {
            let length = rest.number(at: 0, 4)
            guard (8...rest.count).contains(length) else { break }
            let type = BoxType(UInt32(rest.number(at: 4, 4)))
            if ofCodecs.contains(type) || !CoordinateText.isIn(rest.prefix(length)) {
                kept += rest.prefix(length)
            }
            rest = rest.dropFirst(length)
        }
        return CoordinateText.isIn(rest) ? kept : kept + rest
    }
}
