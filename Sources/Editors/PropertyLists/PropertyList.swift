public import FoundationEssentials

/// A property list from untrusted data: the format in which Apple's tools store data beside photos.
public indirect enum PropertyList: Sendable, Equatable {
    /// Text.
    case string(String)
    /// An integer.
    case integer(Int)
    /// A floating-point number; always finite in a list that was read.
    case real(Double)
    /// A boolean.
    case boolean(Bool)
    /// A point in time; in the years 1 to 9999 in a list that was read.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// Values in order.
    case array([PropertyList])
    /// Values by name.
    case dictionary([String: PropertyList])
    /// A reference in a keyed archive: the index of an object in `$objects`.
    case uid(Int)

    /// Reads a property list in the binary format (`bplist00`) or as XML, within ``PropertyListLimits``.
    ///
    /// Foundation's reader is not used on untrusted bytes: 300 bytes in which 40 arrays refer to each other twice keep it busy
    /// forever, and it accepts any word as the old text format, which this reader rejects.
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

    /// The name of this kind of value in an error.
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
