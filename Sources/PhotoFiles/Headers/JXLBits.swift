/// The bits of the headers of a JPEG XL codestream, lowest bit of the first byte first; 0 after the last byte.
///
/// Source: ISO/IEC 18181-1 §B.2 (U32, Enum), §D.2 (SizeHeader), §D.3 (ImageMetadata and what is in it).
struct JXLBits {
    private var bits: BitReader
    /// Whether ImageMetadata is signalled as all default.
    private var isDefault = false

    /// Whether decoders turn or mirror the picture, according to ``readExtraChannels()``.
    private(set) var isTurned = false
    /// Whether the picture is an animation, according to ``readExtraChannels()``.
    private(set) var isAnimation = false
    /// Whether colours are multiplied by alpha (`alpha_associated`), as far as channels are read.
    private(set) var isMultipliedByAlpha = false

    init(_ bytes: some Sequence<UInt8>) { bits = BitReader(bytes) }

    private var isAtEnd: Bool { bits.isAtEnd }

    private mutating func read(_ count: Int) -> Int { bits.read(count) }

    private mutating func readFlag() -> Bool { read(1) == 1 }

    /// One of the four encodings of a U32: a number of bits, and an offset.
    private typealias U32Encoding = (bits: Int, plus: Int)

    private mutating func read(
        _ a: U32Encoding, _ b: U32Encoding, _ c: U32Encoding, _ d: U32Encoding
    ) -> Int {
        let encoding = [a, b, c, d][read(2)]
        return read(encoding.bits) + encoding.plus
    }

    // MARK: SizeHeader

    mutating func readSize() -> (width: Int, height: Int) {
        let isSmall = readFlag()
        func side(_ bits: inout JXLBits) -> Int {
            isSmall ? 8 * (1 + bits.read(5)) : bits.read((9, 1), (13, 1), (18, 1), (30, 1))
        }
        let height = side(&self)
        guard let (across, down) = Self.ratios[read(3)] else { return (side(&self), height) }
        return (height * across / down, height)
    }

    private static let ratios = [
        1: (1, 1), 2: (12, 10), 3: (4, 3), 4: (3, 2), 5: (16, 9), 6: (5, 4), 7: (2, 1),
    ]

    // MARK: ImageMetadata

    /// The purpose of a channel beside colour.
    enum ExtraChannel: Int { case alpha, depth, spot, selection, black, filterArray, thermal }

    /// Reads the channels beside colour, without those of unknown kinds.
    mutating func readExtraChannels() -> [ExtraChannel] {
        isDefault = readFlag()
        if isDefault { return [] }
        if readFlag() { skipExtraFields() }
        skipDepth()
        _ = readFlag()
        let count = read((0, 0), (0, 1), (4, 2), (12, 1))
        var channels: [ExtraChannel] = []
        for _ in 0..<count where !isAtEnd {
            if let channel = readExtraChannel() { channels.append(channel) }
        }
        return channels
    }

    /// Reads the transfer function of the colours, a number of ITU-T H.273, after ``readExtraChannels()``; nil for sRGB, and if a
    /// profile or an exponent defines it. Source: ISO/IEC 18181-1 §E.2 (ColourEncoding).
    mutating func readTransfer() -> Int? {
        guard !isDefault, !isAtEnd else { return nil }
        // The flag for XYB; then the flags for all-default values and for a profile.
        _ = readFlag()
        guard !readFlag(), !readFlag() else { return nil }
        let space = readEnum()
        // XYB has no white point and no transfer function.
        guard space != 2 else { return nil }
        if readEnum() == 2 { skipPoint() }
        // Grey has no primaries.
        if space != 1, readEnum() == 2 { for _ in 0..<3 { skipPoint() } }
        return readFlag() ? nil : readEnum()
    }

    private mutating func readEnum() -> Int { read((0, 0), (0, 1), (4, 2), (6, 18)) }

    private mutating func skipPoint() {
        for _ in 0..<2 { _ = read((19, 0), (19, 524_288), (20, 1_048_576), (21, 2_097_152)) }
    }

    private mutating func readExtraChannel() -> ExtraChannel? {
        if readFlag() { return .alpha }
        let kind = ExtraChannel(rawValue: read((0, 0), (0, 1), (4, 2), (6, 18)))
        skipDepth()
        _ = read((0, 0), (0, 3), (0, 4), (3, 1))
        let nameBytes = read((0, 0), (4, 0), (5, 16), (10, 48))
        bits.skip(8 * nameBytes)
        switch kind {
        case .alpha: isMultipliedByAlpha = readFlag() || isMultipliedByAlpha
        case .spot: bits.skip(4 * 16)
        case .filterArray: _ = read((0, 1), (2, 0), (4, 3), (8, 19))
        default: break
        }
        return kind
    }

    /// Skips orientation, intrinsic size, preview and animation.
    private mutating func skipExtraFields() {
        isTurned = read(3) > 0
        if readFlag() { _ = readSize() }
        if readFlag() { skipPreview() }
        isAnimation = readFlag()
        guard isAnimation else { return }
        _ = read((0, 100), (0, 1000), (10, 1), (30, 1))
        _ = read((0, 1), (0, 1001), (8, 1), (10, 1))
        _ = read((0, 0), (3, 0), (16, 0), (32, 0))
        _ = readFlag()
    }

    private mutating func skipPreview() {
        let isInEights = readFlag()
        func skipSide(_ bits: inout JXLBits) {
            _ =
                isInEights
                ? bits.read((0, 16), (0, 32), (5, 1), (9, 33))
                : bits.read((6, 1), (8, 65), (10, 321), (12, 1345))
        }
        skipSide(&self)
        if read(3) == 0 { skipSide(&self) }
    }

    private mutating func skipDepth() {
        if readFlag() {
            _ = read((0, 32), (0, 16), (0, 24), (6, 1))
            _ = read(4)
        } else {
            _ = read((0, 8), (0, 10), (0, 12), (6, 1))
        }
    }
}
