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
        guard let kind = self["mdia", "hdlr"]?.bytes else { return }
        let handler = BoxType(UInt32(kind.number(at: 8, 4)))
        change("mdia", "minf", "stbl", "stsd") { box in
            box = box.strippedDescriptions(strip, of: handler) ?? MovieBox("stsd")
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
        // It depends on the kind of the track, which is known where the whole track is.
        case "stsd": return self
        case "gmhd": return box.strippedMediaHeader(strip)
        case "sgpd", "sbgp":
            return MovieStrip.groupings.contains(BoxType(UInt32(bytes.number(at: 4, 4))))
                ? cut() : nil
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

    /// Returns metadata with the values that stay, and of a table of keys with the names of those alone: a key may be named as somebody likes.
    /// Nil if none stays.
    ///
    /// MPEG-4 begins with a version and flags, QuickTime with the first box.
    private func strippedMetadata(_ strip: MovieStrip) -> MovieBox? {
        let isFull = bytes.number(at: 0, 4) == 0
        let head = Array(bytes.prefix(isFull ? 4 : 0))
        guard let inner = MovieBox.entries(of: bytes.dropFirst(head.count)),
            let list = inner.first(where: { $0.type == "ilst" }),
            let values = MovieBox.entries(of: list.bytes[...])
        else { return nil }
        var kept = inner.first { $0.type == "hdlr" }.map { [$0] } ?? []
        for index in kept.indices { kept[index].clearName(strip) }
        guard let table = inner.first(where: { $0.type == "keys" }) else {
            let known = values.compactMap(\.strippedValue).filter { !strip.leavesOut($0) }
            return known.isEmpty
                ? nil : joined(kept + [list.joined(known, behind: [])], behind: head)
        }
        let stated = table.strippedKeys(strip)
        let known = values.compactMap { value -> MovieBox? in
            // A value whose key is missing has no meaning, and may be one that must be removed.
            guard let new = stated.numbers[value.type.bytes.number(at: 0, 4)] else { return nil }
            return value.strippedValue.map { MovieBox(BoxType(UInt32(new)), $0.bytes) }
        }
        guard !known.isEmpty else { return nil }
        return joined(kept + [stated.table, list.joined(known, behind: [])], behind: head)
    }

    /// Returns a value of a list without its name and what else describes it; nil if a place is written in its texts, one by one or together,
    /// or if it is a picture.
    private var strippedValue: MovieBox? {
        guard let parts = MovieBox.entries(of: bytes[...]), !parts.isEmpty else {
            return CoordinateText.isIn(bytes) ? nil : self
        }
        // Version and type of four bytes, and a language.
        let values = parts.filter { $0.type == "data" }
        let texts = values.map { Array($0.bytes.dropFirst(8)) }
        guard !values.isEmpty,
            values.allSatisfy({ MovieStrip.valueTypes.contains($0.bytes.number(at: 0, 4)) }),
            CoordinateText.places(in: texts).isEmpty
        else { return nil }
        return joined(values, behind: [])
    }

    /// Returns a table of the keys that stay, and their new numbers by the old ones, from 1.
    private func strippedKeys(_ strip: MovieStrip) -> (table: MovieBox, numbers: [Int: Int]) {
        var (writer, numbers) = (ByteWriter(), [Int: Int]())
        for (index, name) in MovieBox.keys(of: bytes).enumerated() {
            guard !strip.leavesOut(key: name) else { continue }
            numbers[index + 1] = numbers.count + 1
            MovieBox("mdta", Array(name.utf8)).write(to: &writer)
        }
        var head = ByteWriter()
        head.add(0, 4)
        head.add(numbers.count, 4)
        return (MovieBox(type, head.bytes + writer.bytes), numbers)
    }

    /// Reads boxes up to bytes that are none, or up to a number of them.
    static func read(
        _ content: ArraySlice<UInt8>, atMost count: Int = .max
    ) -> (entries: [MovieBox], rest: ArraySlice<UInt8>) {
        var (entries, rest) = ([MovieBox](), content)
        while rest.count >= 8, entries.count < count {
            let length = rest.number(at: 0, 4)
            guard (8...rest.count).contains(length) else { break }
            let type = BoxType(UInt32(rest.number(at: 4, 4)))
            entries.append(MovieBox(type, Array(rest.prefix(length).dropFirst(8))))
            rest = rest.dropFirst(length)
        }
        return (entries, rest)
    }

    /// Returns the boxes of a list, each with its content unparsed; nil if it is no list.
    static func entries(of content: ArraySlice<UInt8>) -> [MovieBox]? {
        let (entries, rest) = read(content)
        // QuickTime's lists may end with four bytes of zero.
        return rest.count < 8 || rest.number(at: 0, 4) == 0 ? entries : nil
    }

    /// Returns the names of keys in their order; an unreadable one and one of another name space are empty, and so are all after an unreadable
    /// one.
    private static func keys(of content: [UInt8]) -> [String] {
        read(content.dropFirst(8)).entries.map { key in
            key.type == "mdta" ? String(decoding: key.bytes, as: UTF8.self) : ""
        }
    }

    func joined(
        _ entries: [MovieBox], behind head: [UInt8], before end: ArraySlice<UInt8> = []
    ) -> MovieBox {
        var writer = ByteWriter()
        writer.add(head)
        for entry in entries { entry.write(to: &writer) }
        writer.add(end)
        return MovieBox(type, writer.bytes)
    }
}
