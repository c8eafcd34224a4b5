/// A gain map that a photo's file contains: its location, and the meaning of its codes.
public struct GainMap: Sendable, Equatable {
    /// The location of its picture.
    public enum Location: Sendable, Equatable {
        /// A separate JPEG in these bytes of the file.
        case jpeg(Range<Int>)
        /// An item of a HEIF.
        case item(Int)
    }

    public let location: Location
    /// Its size after decoding: for a JPEG as stored, for an item upright.
    public let width: Int, height: Int
    /// 1 for a map of one channel, 3 for colours.
    public let components: Int
    /// The meaning of its codes, after ``codes`` is applied.
    public let metadata: GainMapMetadata
    /// The replacement of each code; nil for no replacement.
    public let codes: [UInt8]?

    /// The number of its samples.
    public var samples: Int { width * height * components }

    /// The byte range of its JPEG in the file; nil for an item.
    public var jpeg: Range<Int>? { if case .jpeg(let bytes) = location { bytes } else { nil } }
}
