// ISO/IEC 14496-12 §8.11 (meta, iloc, iinf, iprp), ISO/IEC 23008-12 §6.5.3 (ispe) and §9.3 (ipma).
extension PhotoSurvey {
    /// Reads the box `meta`, which libheif takes into memory whole; pixels are not gone to.
    mutating func readHEIF(_ file: inout HeaderBytes) {
        let top = Self.boxes(in: &file, 0..<file.length)
        guard let meta = top.first(where: { $0.type == "meta" })?.content else { return }
        let profiles = profileBytes
        addMetadata(meta.count)
        guard !isBeyond else { return }
        // It has a version before its boxes.
        let parts = Self.boxes(
            in: &file, min(meta.lowerBound + 4, meta.upperBound)..<meta.upperBound)
        func part(_ type: String) -> Range<Int>? { parts.first { $0.type == type }?.content }
        if let properties = part("iprp") {
            readProperties(&file, properties, primary: part("pitm"))
        }
        metadataBytes -= profileBytes - profiles
        if let names = part("iinf"), let places = part("iloc") {
            readItems(&file, names: names, places: places)
        }
    }

    /// Profiles, and the size of the primary picture.
    private mutating func readProperties(
        _ file: inout HeaderBytes, _ range: Range<Int>, primary: Range<Int>?
    ) {
        let boxes = Self.boxes(in: &file, range)
        guard let container = boxes.first(where: { $0.type == "ipco" })?.content else { return }
        let properties = Self.boxes(in: &file, container)
        for property in properties where property.type == "colr" {
            let place = property.content.lowerBound
            if file.has("prof", at: place) || file.has("rICC", at: place) {
                addProfile(property.content.count - 4)
            }
        }
        guard let primary, let version = file.byte(primary.lowerBound),
            let item = file.big(primary.lowerBound + 4, version == 0 ? 2 : 4)
        else { return }
        for box in boxes where box.type == "ipma" {
            for index in Self.associations(of: item, in: &file, box.content)
            where properties.indices.contains(index - 1) && properties[index - 1].type == "ispe" {
                let place = properties[index - 1].content.lowerBound
                guard let width = file.big(place + 4, 4), let height = file.big(place + 8, 4) else {
                    continue
                }
                setSize(width, height)
            }
        }
    }

    /// The numbers, from 1 on, of an item's properties.
    private static func associations(
        of item: Int, in file: inout HeaderBytes, _ range: Range<Int>
    ) -> [Int] {
        guard let version = file.byte(range.lowerBound),
            let flags = file.byte(range.lowerBound + 3),
            let count = file.big(range.lowerBound + 4, 4)
        else { return [] }
        let (idBytes, width) = (version == 0 ? 2 : 4, flags & 1 == 1 ? 2 : 1)
        var place = range.lowerBound + 8
        for _ in 0..<count {
            guard place < range.upperBound, let id = file.big(place, idBytes),
                let indices = file.byte(place + idBytes)
            else { return [] }
            place += idBytes + 1
            if id == item {
                // The highest bit says that it must be understood.
                return (0..<indices).compactMap {
                    file.big(place + $0 * width, width).map { $0 & (width == 2 ? 0x7FFF : 0x7F) }
                }
            }
            place += indices * width
        }
        return []
    }

    /// Adds up what items of metadata have, wherever they lie: several may name the same bytes, and each
    /// is read.
    private mutating func readItems(
        _ file: inout HeaderBytes, names: Range<Int>, places: Range<Int>
    ) {
        guard let version = file.byte(names.lowerBound) else { return }
        let first = names.lowerBound + 4 + (version == 0 ? 2 : 4)
        var metadata: Set<Int> = []
        for entry in Self.boxes(in: &file, min(first, names.upperBound)..<names.upperBound) {
            let place = entry.content.lowerBound
            guard entry.type == "infe", let version = file.byte(place), version >= 2 else {
                continue
            }
            let idBytes = version == 2 ? 2 : 4
            let type = place + 4 + idBytes + 2
            if file.has("Exif", at: type) || file.has("mime", at: type),
                let id = file.big(place + 4, idBytes)
            {
                metadata.insert(id)
            }
        }
        for location in Self.locations(in: &file, places) where metadata.contains(location.item) {
            addMetadata(location.bytes)
        }
    }

    private static func locations(
        in file: inout HeaderBytes, _ range: Range<Int>
    ) -> [(item: Int, bytes: Int)] {
        let start = range.lowerBound
        guard let version = file.byte(start), let sizes = file.big(start + 4, 2) else { return [] }
        let (offset, length, base) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let index = version == 0 ? 0 : sizes & 15
        let idBytes = version < 2 ? 2 : 4
        // Without a length an item is all of the file, and extents take no room.
        guard let count = file.big(start + 6, idBytes), [4, 8].contains(length) else { return [] }
        var locations: [(item: Int, bytes: Int)] = []
        var place = start + 6 + idBytes
        for _ in 0..<count {
            // The construction method, from version 1 on, and where the data is.
            let extents = place + idBytes + (version == 0 ? 0 : 2) + 2 + base
            guard extents < range.upperBound, let item = file.big(place, idBytes),
                let extentCount = file.big(extents, 2)
            else { break }
            place = extents + 2
            var bytes = 0
            for _ in 0..<extentCount {
                guard place < range.upperBound else { return locations }
                let number = place + index + offset
                let more =
                    length == 8 ? file.number64(number, isBig: true) : file.big(number, 4)
                bytes = sum(bytes, file.existing(more ?? .max, from: 0))
                place = number + length
            }
            locations.append((item, bytes))
        }
        return locations
    }
}
