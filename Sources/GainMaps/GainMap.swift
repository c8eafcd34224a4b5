/// A gain map that is really in a photo's file: where it lies, and what its codes mean.
public struct GainMap: Sendable, Equatable {
    /// The place of its picture.
    public enum Place: Sendable, Equatable {
        /// A JPEG of its own in these bytes of the file.
        case jpeg(Range<Int>)
        /// An item of a HEIF.
        case item(Int)
    }

    public let place: Place
    /// Its size as its decoder shows it: that of a JPEG as stored, that of an item upright.
    public let width: Int, height: Int
    /// 1 for a map of one channel, 3 for colours.
    public let components: Int
    /// The meaning of its codes, after ``codes``.
    public let metadata: GainMapMetadata
    /// The new code for each code; nil for one that stays.
    public let codes: [UInt8]?

    /// Numbers of all its codes.
    public var samples: Int { width * height * components }

    /// The bytes of the file that are its JPEG; nil for an item.
    public var jpeg: Range<Int>? { if case .jpeg(let bytes) = place { bytes } else { nil } }
}
