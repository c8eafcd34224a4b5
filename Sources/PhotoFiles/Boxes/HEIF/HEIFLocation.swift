/// The location of an item's bytes.
///
/// Source: ISO/IEC 14496-12 §8.11.3 (`iloc`).
public struct HEIFLocation: Sendable, Equatable {
    /// The origin of offsets.
    public enum Origin: Sendable, Equatable {
        /// The beginning of the file.
        case file
        /// The content of the box `idat`.
        case itemData
        /// Another item's bytes, or another file: no phone writes this.
        case elsewhere
    }

    public let origin: Origin
    /// The parts of its bytes, in order, relative to the origin. A file may declare bytes that it does not have.
    public let extents: [Extent]

    /// A part of an item's bytes.
    public struct Extent: Sendable, Equatable {
        public let offset: Int
        /// Its length; nil if the table has no lengths, which means all remaining bytes.
        public let length: Int?
    }
}

extension HEIFLocation {
    /// Reads a full box `iloc`.
    ///
    /// - Parameters:
    ///   - max: most items, and most extents of each.
    ///   - isWhole: set to false if not all of it could be read.
    static func locations(
        in box: ArraySlice<UInt8>, atMost max: (items: Int, extents: Int), isWhole: inout Bool
    ) -> [Int: HEIFLocation] {
        var cursor = ByteCursor(box)
        var locations: [Int: HEIFLocation] = [:]
        guard let version = cursor.number(1), version < 3, cursor.number(3) != nil,
            let sizes = cursor.number(2), let count = cursor.number(version < 2 ? 2 : 4)
        else {
            isWhole = false
            return [:]
        }
        let layout = Layout(version: version, sizes: sizes)
        for _ in 0..<count {
            guard locations.count < max.items,
                let (id, location) = layout.next(&cursor, atMost: max.extents)
            else {
                isWhole = false
                break
            }
            // The first entry of an item takes precedence.
            locations[id] = locations[id] ?? location
        }
        return locations
    }

    /// The sizes in bytes of the numbers in an `iloc`.
    private struct Layout {
        let version, offset, length, base, index: Int

        init(version: Int, sizes: Int) {
            self.version = version
            (offset, length, base) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
            index = version == 0 ? 0 : sizes & 15
        }

        func next(_ cursor: inout ByteCursor, atMost max: Int) -> (Int, HEIFLocation)? {
            guard [offset, length, base, index].allSatisfy({ [0, 4, 8].contains($0) }),
                let id = cursor.number(version < 2 ? 2 : 4),
                let method = version == 0 ? 0 : cursor.number(2), let file = cursor.number(2),
                let start = cursor.number(base), let count = cursor.number(2),
                // Numbers of zero bytes could repeat without using any bytes of the file.
                count <= (offset + length + index == 0 ? 1 : max)
            else { return nil }
            var extents: [HEIFLocation.Extent] = []
            for _ in 0..<count {
                guard cursor.number(index) != nil, let extentOffset = cursor.number(offset),
                    let bytes = cursor.number(length)
                else { return nil }
                let (sum, overflows) = start.addingReportingOverflow(extentOffset)
                guard !overflows else { return nil }
                extents.append(Extent(offset: sum, length: self.length == 0 ? nil : bytes))
            }
            let origins: [Origin] = [.file, .itemData]
            let kind = method & 15
            let origin = file == 0 && kind < origins.count ? origins[kind] : .elsewhere
            return (id, HEIFLocation(origin: origin, extents: extents))
        }
    }
}
