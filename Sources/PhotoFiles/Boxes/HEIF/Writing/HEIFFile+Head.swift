extension HEIFFile {
    /// The length of ``head(mediaRanges:length:)``, the same for all placements.
    public var headLength: Int { head { _ in 0..<0 }.count + Self.mediaHeader }

    private static let mediaHeader = 8

    /// Returns all bytes before the pictures: `ftyp`, `meta`, and the header of an `mdat` that extends to the end of the file.
    ///
    /// - Parameters:
    ///   - mediaRanges: the byte ranges in the file of the items with content ``Content/media``, by their numbers.
    ///   - length: the length of the whole file.
    /// - Throws: an error if a number exceeds its four bytes, or an item number its two.
    public func head(
        mediaRanges: [Int: Range<Int>], length: Int
    ) throws(HEIFTooLarge) -> [UInt8] {
        guard items.count <= Self.itemsMax else {
            throw HEIFTooLarge(
                description: "a HEIF of \(items.count) items; \(Self.itemsMax) can be written")
        }
        guard length <= Int(UInt32.max) else {
            throw HEIFTooLarge(
                description: "a HEIF of \(length) bytes; \(UInt32.max) can be written")
        }
        var bytes = ByteWriter()
        bytes.add(head { mediaRanges[$0] ?? 0..<0 })
        bytes.add(length - bytes.bytes.count, 4)
        bytes.add("mdat")
        return bytes.bytes
    }

    /// `ftyp` and `meta` (ISO/IEC 14496-12 §4.3, §8.11).
    private func head(_ mediaRange: (Int) -> Range<Int>) -> [UInt8] {
        var bytes = ByteWriter()
        bytes.box("ftyp") { box in
            box.add(brands.first ?? "mif1")
            box.add(0, 4)
            for brand in brands { box.add(brand) }
        }
        bytes.fullBox("meta") { meta in
            meta.fullBox("hdlr") { box in
                box.add(0, 4)
                box.add("pict")
                box.add([UInt8](repeating: 0, count: 13))
            }
            meta.fullBox("pitm") { $0.add(primary, 2) }
            addItems(to: &meta)
            addReferences(to: &meta)
            addProperties(to: &meta)
            addGroups(to: &meta)
            addItemData(to: &meta)
            addLocations(to: &meta, mediaRange)
        }
        return bytes.bytes
    }

    private func addItems(to meta: inout ByteWriter) {
        meta.fullBox("iinf") { box in
            box.add(items.count, 2)
            for (index, item) in items.enumerated() {
                box.fullBox("infe", version: 2, flags: item.isHidden ? 1 : 0) { entry in
                    entry.add(index + 1, 2)
                    // Not protected.
                    entry.add(0, 2)
                    entry.add(item.type)
                    // No name.
                    entry.add(0, 1)
                    guard item.type == "mime" else { return }
                    entry.add(item.contentType)
                    entry.add(0, 1)
                }
            }
        }
    }

    private func addReferences(to meta: inout ByteWriter) {
        guard !references.isEmpty else { return }
        meta.fullBox("iref") { box in
            for reference in references {
                box.box(reference.type) { entry in
                    entry.add(reference.from, 2)
                    entry.add(reference.to.count, 2)
                    for item in reference.to { entry.add(item, 2) }
                }
            }
        }
    }

    /// Writes each property once, and the list of an item's properties (ISO/IEC 23008-12 §9.3).
    private func addProperties(to meta: inout ByteWriter) {
        var shared: [HEIFProperty] = []
        var associations: [(item: Int, properties: [(index: Int, isEssential: Bool)])] = []
        for (index, item) in items.enumerated() where !item.properties.isEmpty {
            let properties = item.properties.map { property in
                let known = shared.firstIndex(of: property)
                if known == nil { shared.append(property) }
                return ((known ?? shared.count - 1) + 1, property.isEssential)
            }
            associations.append((index + 1, properties))
        }
        let isWide = shared.count > 0x7F
        meta.box("iprp") { iprp in
            iprp.box("ipco") { box in
                for property in shared { property.add(to: &box) }
            }
            iprp.fullBox("ipma", flags: isWide ? 1 : 0) { box in
                box.add(associations.count, 4)
                for (item, properties) in associations {
                    box.add(item, 2)
                    box.add(properties.count, 1)
                    for (index, isEssential) in properties {
                        let bit = isEssential ? (isWide ? 0x8000 : 0x80) : 0
                        box.add(index | bit, isWide ? 2 : 1)
                    }
                }
            }
        }
    }

    private func addGroups(to meta: inout ByteWriter) {
        guard !groups.isEmpty else { return }
        meta.box("grpl") { box in
            for (index, group) in groups.enumerated() {
                box.fullBox(group.type) { entry in
                    // Groups and items share one number space.
                    entry.add(items.count + 1 + index, 4)
                    entry.add(group.items.count, 4)
                    for item in group.items { entry.add(item, 4) }
                }
            }
        }
    }

    private func addItemData(to meta: inout ByteWriter) {
        let data = items.flatMap(\.itemData)
        guard !data.isEmpty else { return }
        meta.box("idat") { $0.add(data) }
    }

    /// Writes one extent for each item; version 1, for the items in `idat` (construction method 1).
    private func addLocations(to meta: inout ByteWriter, _ mediaRange: (Int) -> Range<Int>) {
        var dataOffset = 0
        meta.fullBox("iloc", version: 1) { box in
            // Offsets and lengths of four bytes, no base offset.
            box.add(0x4400, 2)
            box.add(items.count, 2)
            for (index, item) in items.enumerated() {
                let data = item.itemData
                let isInside = item.content != .media
                let range = isInside ? dataOffset..<dataOffset + data.count : mediaRange(index + 1)
                dataOffset += data.count
                box.add(index + 1, 2)
                box.add(isInside ? 1 : 0, 2)
                // In this file.
                box.add(0, 2)
                box.add(1, 2)
                box.add(range.lowerBound, 4)
                box.add(range.count, 4)
            }
        }
    }
}

extension HEIFFile.Item {
    fileprivate var itemData: [UInt8] {
        if case .itemData(let bytes) = content { bytes } else { [] }
    }
}
