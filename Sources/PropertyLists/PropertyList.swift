public import FoundationEssentials

/// A property list as data of strangers hold it: what Apple's tools keep beside photos.
public indirect enum PropertyList: Sendable, Equatable {
    /// Text.
    case string(String)
    /// A whole number.
    case integer(Int)
    /// A number with a fraction.
    case real(Double)
    /// Yes or no.
    case boolean(Bool)
    /// A moment.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// Values in order.
    case array([PropertyList])
    /// Values by name.
    case dictionary([String: PropertyList])
    /// A reference inside a keyed archive: the place of an object in `$objects`.
    case uid(Int)
}
