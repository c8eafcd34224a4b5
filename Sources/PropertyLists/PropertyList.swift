public import FoundationEssentials

/// A property list as data of strangers hold it: what Apple's tools keep beside photos.
public indirect enum PropertyList: Sendable, Equatable {
    /// Text.
    case string(String)
    /// A whole number.
    case integer(Int)
    /// A number with a fraction; always finite when it was read.
    case real(Double)
    /// Yes or no.
    case boolean(Bool)
    /// A moment of the years 1 to 9999 when it was read.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// Values in order.
    case array([PropertyList])
    /// Values by name.
    case dictionary([String: PropertyList])
    /// A reference inside a keyed archive: the place of an object in `$objects`.
    case uid(Int)

    /// Reads a property list in the binary form (`bplist00`) or as XML, within ``PropertyListLimits``.
    ///
    /// Foundation's reader is not used on strangers' bytes: 300 bytes in which 40 arrays refer to each other
    /// twice keep it busy for ever, and it takes any word for the old text form, which we refuse.
    public init(bytes: Data) throws(PropertyListError) {
        guard bytes.count <= PropertyListLimits.bytesMax else {
            throw PropertyListError(
                "it has \(bytes.count) bytes; at most \(PropertyListLimits.bytesMax) are read.")
        }
        if bytes.starts(with: BinaryPropertyList.magic) {
            self = try BinaryPropertyList.read(bytes)
        } else {
            self = try XMLPropertyList.read(bytes)
        }
    }

    /// How this kind of value is called in an error.
    public var kind: String {
        switch self {
        case .string: "text"
        case .integer: "a whole number"
        case .real: "a real number"
        case .boolean: "a boolean"
        case .date: "a date"
        case .data: "data"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .uid: "a reference"
        }
    }
}
