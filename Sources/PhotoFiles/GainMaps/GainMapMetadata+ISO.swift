extension GainMapMetadata {
    /// Bits of the flags. Source: ISO 21496-1:2025 annex C.
    private enum Flag {
        static let threeChannels = 0x80
        static let usesBaseColour = 0x40
        /// All numbers share one denominator (libultrahdr writes this for some maps).
        static let commonDenominator = 0x08
    }

    /// The prefix of such a segment of a JPEG: the URN and its terminator.
    public static let signature: [UInt8] = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)

    /// The minimum version for readers and the writer's version: the whole segment of the base.
    public static let isoVersion: [UInt8] = [0, 0, 0, 0]

    /// Reads the bytes of ISO 21496-1, from the versions on; nil for a later version and for invalid metadata.
    public init?(iso bytes: some Collection<UInt8>) {
        var reader = NumberReader(bytes)
        guard reader.unsigned(2) == 0, reader.unsigned(2) != nil,
            let flags = reader.unsigned(1).map(Int.init)
        else { return nil }
        let isCommon = flags & Flag.commonDenominator != 0
        let common = isCommon ? reader.unsigned(4) : nil
        guard isCommon == (common != nil) else { return nil }
        func fraction(isSigned: Bool) -> Fraction? {
            guard let number = reader.unsigned(4), let below = common ?? reader.unsigned(4)
            else { return nil }
            let above = isSigned ? Int32(bitPattern: number) : Int32(exactly: number)
            guard let above else {
                // A numerator of 32 bits loses its last bit, and so does its denominator.
                return Fraction(Int32(number >> 1), over: below >> 1)
            }
            return Fraction(above, over: below)
        }
        guard let base = fraction(isSigned: false), let alternate = fraction(isSigned: false)
        else { return nil }
        var channels: [Channel] = []
        for _ in 0..<(flags & Flag.threeChannels != 0 ? 3 : 1) {
            guard let min = fraction(isSigned: true), let max = fraction(isSigned: true),
                let gamma = fraction(isSigned: false), let baseOffset = fraction(isSigned: true),
                let alternateOffset = fraction(isSigned: true)
            else { return nil }
            channels.append(
                Channel(
                    min: min, max: max, gamma: gamma, baseOffset: baseOffset,
                    alternateOffset: alternateOffset))
        }
        self.init(
            channels: channels, baseHeadroom: base, alternateHeadroom: alternate,
            usesBaseColour: flags & Flag.usesBaseColour != 0)
    }

    /// Reads the data of an item `tmap`, which begin with a version of their own (ISO/IEC 23008-12:2025 §6.6.2.4).
    public init?(tmap bytes: some Collection<UInt8>) {
        guard bytes.first == 0 else { return nil }
        self.init(iso: bytes.dropFirst())
    }

    /// The bytes of ISO 21496-1: 61 for one channel, 141 for three.
    public var iso: [UInt8] {
        var bytes = Self.isoVersion
        bytes.append(
            UInt8(
                (channels.count == 3 ? Flag.threeChannels : 0)
                    | (usesBaseColour ? Flag.usesBaseColour : 0)))
        for fraction in [baseHeadroom, alternateHeadroom] + channels.flatMap(\.fractions) {
            for number in [UInt32(bitPattern: fraction.numerator), fraction.denominator] {
                bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
            }
        }
        return bytes
    }
}

extension GainMapMetadata.Channel {
    fileprivate var fractions: [Fraction] { [min, max, gamma, baseOffset, alternateOffset] }
}

/// Reads big-endian numbers from the start of some bytes.
private struct NumberReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { rest = ArraySlice(Array(bytes)) }

    /// Reads the next number of 1 to 4 bytes; nil at the end.
    mutating func unsigned(_ count: Int) -> UInt32? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
