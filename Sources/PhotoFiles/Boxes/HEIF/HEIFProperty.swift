/// A property that items share by its number.
///
/// Sources: ISO/IEC 23008-12 §6.5 (`ispe`, `pixi`, `irot`, `imir`, `auxC`), ISO/IEC 14496-12 §12.1.4 (`clap`), §12.1.5
/// (`colr`).
public enum HEIFProperty: Sendable, Equatable {
    /// Width and height of the picture before it is turned.
    case size(width: Int, height: Int)
    /// Counter-clockwise quarter turns.
    case rotation(quarterTurns: Int)
    /// A mirroring: top and bottom swapped (mode 0), or left and right (mode 1), as in the edition of 2022.
    case mirror(swapsLeftAndRight: Bool)
    /// Bits of each channel.
    case bits([Int])
    /// The meaning of codes, by the numbers of ITU-T H.273.
    case codedColour(CodedColour)
    /// An ICC profile.
    case profile(ArraySlice<UInt8>)
    /// The purpose of an auxiliary picture, a URN.
    case auxiliary(String)
    /// Any other property, with its content.
    case other(type: String, content: ArraySlice<UInt8>)

    /// Numbers of ITU-T H.273.
    public struct CodedColour: Sendable, Equatable {
        public let primaries, transfer, matrix: Int
        public let isFullRange: Bool

        /// Makes a meaning.
        public init(primaries: Int, transfer: Int, matrix: Int, isFullRange: Bool) {
            (self.primaries, self.transfer, self.matrix) = (primaries, transfer, matrix)
            self.isFullRange = isFullRange
        }
    }

    /// Reads a property; one that is too short is ``other(type:content:)``.
    init(type: String, content: ArraySlice<UInt8>) {
        var cursor = ByteCursor(content)
        self = Self.known(type, &cursor) ?? .other(type: type, content: content)
    }

    private static func known(_ type: String, _ cursor: inout ByteCursor) -> HEIFProperty? {
        switch type {
        case "irot": return cursor.number(1).map { .rotation(quarterTurns: $0 & 3) }
        case "imir": return cursor.number(1).map { .mirror(swapsLeftAndRight: $0 & 1 == 1) }
        case "colr": return colour(&cursor)
        case "ispe", "pixi", "auxC":
            guard cursor.number(4) != nil else { return nil }
            return known(fullBox: type, &cursor)
        default: return nil
        }
    }

    private static func known(fullBox type: String, _ cursor: inout ByteCursor) -> HEIFProperty? {
        switch type {
        case "ispe":
            guard let width = cursor.number(4), let height = cursor.number(4) else { return nil }
            return .size(width: width, height: height)
        case "pixi":
            guard let count = cursor.number(1), let bits = cursor.bytes(count) else { return nil }
            return .bits(bits.map(Int.init))
        default: return .auxiliary(cursor.text())
        }
    }

    private static func colour(_ cursor: inout ByteCursor) -> HEIFProperty? {
        switch cursor.type() {
        case "nclx":
            guard let primaries = cursor.number(2), let transfer = cursor.number(2),
                let matrix = cursor.number(2), let range = cursor.number(1)
            else { return nil }
            return .codedColour(
                CodedColour(
                    primaries: primaries, transfer: transfer, matrix: matrix,
                    isFullRange: range & 0x80 != 0))
        case "prof", "rICC": return .profile(cursor.rest)
        default: return nil
        }
    }
}
