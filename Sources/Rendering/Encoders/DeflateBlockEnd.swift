/// The end of the single block of a compressed piece.
///
/// libdeflate reports the number of bytes of a stream, but not the number of bits used in the last byte. A block ends with its
/// end-of-block code, followed only by zeros. So the block ends after the last 1 bit, plus the number of zeros with which that code
/// ends.
enum DeflateBlockEnd: Equatable {
    /// The block ends after this many bits.
    case bits(Int)
    /// The block ends with the last byte: the bytes are stored uncompressed.
    case lastByte

    private static let endOfBlock = 256
    /// The order of the code length code lengths (RFC 1951 §3.2.7).
    private static let order = [
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    ]

    /// - Parameter stream: a complete DEFLATE stream.
    /// - Returns: nil if it has several blocks, or if the end-of-block code consists only of zeros.
    init?(of stream: UnsafeRawBufferPointer) {
        var reader = BitReader(bytes: stream)
        guard reader.read(1) == 1 else { return nil }
        switch reader.read(2) {
        case 0: self = .lastByte
        case 2:
            guard let code = Self.endCode(&reader), code > 0,
                let last = stream.lastIndex(where: { $0 != 0 })
            else { return nil }
            let ones = last * 8 + 8 - stream[last].leadingZeroBitCount
            self = .bits(ones + code.trailingZeroBitCount)
        default: return nil
        }
    }

    /// Returns the end-of-block code; its last bit is the lowest.
    private static func endCode(_ reader: inout BitReader) -> Int? {
        let literals = reader.read(5) + 257
        let distances = reader.read(5) + 1
        let count = reader.read(4) + 4
        var lengthLengths = [Int](repeating: 0, count: order.count)
        for symbol in order.prefix(count) { lengthLengths[symbol] = reader.read(3) }
        let codes = codes(of: lengthLengths)
        var lengths: [Int] = []
        while lengths.count < literals + distances {
            guard let symbol = symbol(&reader, lengthLengths, codes) else { return nil }
            switch symbol {
            case 16: lengths += repeatElement(lengths.last ?? 0, count: 3 + reader.read(2))
            case 17: lengths += repeatElement(0, count: 3 + reader.read(3))
            case 18: lengths += repeatElement(0, count: 11 + reader.read(7))
            default: lengths.append(symbol)
            }
        }
        return Self.codes(of: Array(lengths.prefix(literals)))[endOfBlock]
    }

    private static func symbol(
        _ reader: inout BitReader, _ lengths: [Int], _ codes: [Int]
    ) -> Int? {
        var code = 0
        for length in 1...7 {
            code = code << 1 | reader.read(1)
            for symbol in lengths.indices
            where lengths[symbol] == length && codes[symbol] == code {
                return symbol
            }
        }
        return nil
    }

    /// Returns the codes for code lengths; 0 means that there is no code (RFC 1951 §3.2.2).
    private static func codes(of lengths: [Int]) -> [Int] {
        var counts = [Int](repeating: 0, count: 16)
        for length in lengths where length > 0 { counts[length] += 1 }
        var next = [Int](repeating: 0, count: 16)
        for length in 1..<16 { next[length] = (next[length - 1] + counts[length - 1]) << 1 }
        return lengths.map { length in
            guard length > 0 else { return 0 }
            defer { next[length] += 1 }
            return next[length]
        }
    }
}

/// Reads bits, the lowest of each byte first; zeros after the end.
private struct BitReader {
    let bytes: UnsafeRawBufferPointer
    private var bitOffset = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func read(_ count: Int) -> Int {
        var number = 0
        for bit in 0..<count where bitOffset + bit < bytes.count * 8 {
            number |= Int(bytes[(bitOffset + bit) >> 3] >> ((bitOffset + bit) & 7) & 1) << bit
        }
        bitOffset += count
        return number
    }
}
