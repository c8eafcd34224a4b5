extension MovieBox {
    /// Removes metadata of a `moov` and its tracks, including unreadable metadata.
    ///
    /// An empty box takes the place of a removed box, so that the indices of the others stay the same.
    mutating func strip(_ strip: MovieStrip) {
        guard strip != .none else { return }
        for index in boxes.indices where boxes[index].type == "trak" { boxes[index].strip(strip) }
        if strip == .all {
            change("mvhd") { $0.clearDates() }
            change("tkhd") { $0.clearDates() }
            change("mdia", "mdhd") { $0.clearDates() }
        }
        boxes = boxes.map { box in
            switch box.type {
            case "udta": box.strippedUserData(strip) ?? Self.nothing
            case "meta": box.strippedMetadata(strip) ?? Self.nothing
            case "uuid": box.bytes.starts(with: MovieStrip.xmp) ? Self.nothing : box
            default: box
            }
        }
    }

    /// An empty box, which readers skip (ISO/IEC 14496-12 §8.1.2).
    private static let nothing = MovieBox("free")

    /// Clears the creation and modification times of a header: four bytes each, or eight in version 1 (ISO/IEC 14496-12 §8.2.2).
    private mutating func clearDates() {
        let end = bytes.first == 1 ? 20 : 12
        guard bytes.count >= end else { return }
        for index in 4..<end { bytes[index] = 0 }
    }

    private func strippedUserData(_ strip: MovieStrip) -> MovieBox? {
        guard strip == .location, let entries = MovieBox.entries(of: bytes[...]) else { return nil }
        return joined(
            entries.compactMap { entry in
                entry.type == "meta"
                    ? entry.strippedMetadata(strip) : strip.leavesOut(entry.type) ? nil : entry
            }, behind: [])
    }

    /// MPEG-4 begins with a version and flags, QuickTime with the first box.
    private func strippedMetadata(_ strip: MovieStrip) -> MovieBox? {
        let isFull = bytes.number(at: 0, 4) == 0
        let head = Array(bytes.prefix(isFull ? 4 : 0))
        guard let inner = MovieBox.entries(of: bytes.dropFirst(head.count)) else { return nil }
        let keys = inner.first { $0.type == "keys" }.map { MovieBox.keys(of: $0.bytes) }
        return joined(
            inner.compactMap { box in
                guard box.type == "ilst" else {
                    let isStructure = ["hdlr", "keys"].contains(box.type)
                    return isStructure
                        || strip == .location && !["XMP_", "xml "].contains(box.type)
                        ? box : nil
                }
                guard let values = MovieBox.entries(of: box.bytes[...]) else { return nil }
                return box.joined(
                    values.filter { value in
                        guard let keys else { return !strip.leavesOut(value.type) }
                        // A value whose key is missing has no meaning, and may be one that must be removed.
                        let number = value.type.bytes[...].number(at: 0, 4)
                        return keys.indices.contains(number - 1)
                            && !strip.leavesOut(key: keys[number - 1])
                    }, behind: [])
            }, behind: head)
    }

    /// Returns the boxes of a list, each with its content unparsed; nil if it is no list.
    private static func entries(of content: ArraySlice<UInt8>) -> [MovieBox]? {
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

    /// Returns the same box with other entries.
    private func joined(_ entries: [MovieBox], behind head: [UInt8]) -> MovieBox {
        var writer = ByteWriter()
        writer.add(head)
        for entry in entries { entry.write(to: &writer) }
        // QuickTime's user data may end with four bytes of zero, which have no meaning.
        return MovieBox(type, writer.bytes)
    }
}
