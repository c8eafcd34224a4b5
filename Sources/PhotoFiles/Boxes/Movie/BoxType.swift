/// The four bytes of a box's type, which are not always ASCII, as `©xyz` shows.
public struct BoxType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    let code: UInt32

    init(_ code: UInt32) { self.code = code }

    /// Creates a type from four characters of ISO 8859-1.
    public init(stringLiteral name: StaticString) {
        let bytes = name.description.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        precondition(bytes.count == 4, "\(name) is no type of a box")
        code = bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Creates a type from the four characters of ``description``; nil for another number of them.
    public init?(_ characters: String) {
        let codes = characters.unicodeScalars.map(\.value)
        guard codes.count == 4, codes.allSatisfy({ $0 < 256 }) else { return nil }
        code = codes.reduce(0) { $0 << 8 | $1 }
    }

    /// The four bytes.
    public var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: code >> (24 - 8 * $0)) } }

    public var description: String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
