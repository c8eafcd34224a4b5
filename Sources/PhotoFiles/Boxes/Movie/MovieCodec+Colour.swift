/// The colour of a movie in the box `colr` of its sample description.
///
/// Source: ISO/IEC 14496-12 §12.1.5 (`nclx`) and the QuickTime File Format (`nclc`, which has no range). ICC profiles are not read.
public struct MovieColour: Sendable, Equatable {
    /// Numbers of ITU-T H.273; nil if the box declares them as unspecified.
    public let primaries: Int?, transfer: Int?, matrix: Int?
    /// Whether codes have full range; nil if the box does not declare it.
    public let isFullRange: Bool?

    /// Makes a colour.
    public init(primaries: Int?, transfer: Int?, matrix: Int?, isFullRange: Bool?) {
        (self.primaries, self.transfer) = (primaries, transfer)
        (self.matrix, self.isFullRange) = (matrix, isFullRange)
    }

    /// Reads the content of a `colr`; nil for a profile, and if it is too short.
    init?(_ content: ArraySlice<UInt8>) {
        var cursor = ByteCursor(content)
        guard let kind = cursor.type(), kind == "nclx" || kind == "nclc",
            let primaries = cursor.number(2), let transfer = cursor.number(2),
            let matrix = cursor.number(2)
        else { return nil }
        // H.273: 2 is unspecified. A writer of `nclx` may omit the byte of the range.
        let numbers = [primaries, transfer, matrix].map { $0 == 2 ? nil : $0 }
        let range = kind == "nclx" ? cursor.number(1).map { $0 & 0x80 != 0 } : nil
        self.init(
            primaries: numbers[0], transfer: numbers[1], matrix: numbers[2], isFullRange: range)
    }
}
