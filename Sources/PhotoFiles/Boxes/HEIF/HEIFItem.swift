/// An item of a HEIF: a coded picture, a picture derived from others, or metadata.
///
/// Source: ISO/IEC 14496-12 §8.11.6 (`infe`).
public struct HEIFItem: Sendable, Equatable {
    /// Its number, by which references name it.
    public let id: Int
    /// Its type: `hvc1`, `av01`, `grid`, `tmap`, `Exif`, `mime`.
    public let type: String
    /// Whether it is not displayed by itself, like the tiles of a grid.
    public let isHidden: Bool
    /// The media type of an item of type `mime`; empty for others.
    public let contentType: String

    /// Whether it is EXIF, XMP or other metadata, and no picture.
    public var isMetadata: Bool { type == "Exif" || type == "mime" }
}

extension HEIFItem {
    /// Reads the content of an `infe`; nil for versions before 2, which have no types.
    init?(entry: ArraySlice<UInt8>) {
        var cursor = ByteCursor(entry)
        guard let version = cursor.number(1), version >= 2, let flags = cursor.number(3),
            let id = cursor.number(version == 2 ? 2 : 4), cursor.number(2) != nil,
            let type = cursor.type()
        else { return nil }
        (self.id, self.type, isHidden) = (id, type, flags & 1 == 1)
        _ = cursor.text()
        contentType = type == "mime" ? cursor.text() : ""
    }
}

/// A reference from one item to others, in their order.
///
/// Source: ISO/IEC 14496-12 §8.11.12 (`iref`). `dimg` refers from a grid to its tiles, and `thmb` from a thumbnail, `auxl` from an
/// auxiliary picture and `cdsc` from metadata to their picture.
public struct HEIFReference: Sendable, Equatable {
    public let type: String
    public let from: Int
    public let to: [Int]
}

/// A group of items, such as alternatives for readers (`altr`), the preferred one first.
///
/// Source: ISO/IEC 14496-12 §8.18 (`grpl`).
public struct HEIFGroup: Sendable, Equatable {
    public let type: String
    public let items: [Int]
}
