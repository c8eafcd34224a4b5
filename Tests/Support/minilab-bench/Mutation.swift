/// A generator of damaged files: known files, changed in a way that depends only on a seed and a number.
struct Mutation {
    /// The files to damage; parts of one are spliced into another.
    let originals: [[UInt8]]
    /// The seed. The same seed and number give the same file.
    let seed: UInt64

    /// Bytes at the start of a file, about its headers, in which half of the damage is done.
    private static let headBytes = 4_096

    /// Returns the file of a number, and the index of its original.
    func file(_ number: Int) -> (bytes: [UInt8], original: Int) {
        var random = SplitMix(state: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        let original = number % originals.count
        var bytes = originals[original]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard !bytes.isEmpty else { break }
            harm(&bytes, &random)
        }
        // A PNG decoder stops at a wrong checksum.
        if Int.random(in: 0..<4, using: &random) > 0 { PNGChecksums.renew(in: &bytes) }
        return (bytes, original)
    }

    private func harm(_ bytes: inout [UInt8], _ random: inout SplitMix) {
        let reach = Bool.random(using: &random) ? min(bytes.count, Self.headBytes) : bytes.count
        let offset = Int.random(in: 0..<reach, using: &random)
        let length = min(bytes.count - offset, 1 << Int.random(in: 0...12, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            for _ in 0..<Int.random(in: 1...64, using: &random) {
                bytes[Int.random(in: 0..<reach, using: &random)] ^=
                    1 << UInt8.random(in: 0...7, using: &random)
            }
        case 2: bytes.removeLast(bytes.count - offset)
        case 3, 4:
            // Boundary values of numbers: lengths, offsets, counts, sides.
            let value: UInt8 = [0, 0xFF, 0x7F, 0x80, 1].randomElement(using: &random) ?? 0
            for index
                in offset..<min(offset + 1 << Int.random(in: 0...3, using: &random), bytes.count)
            {
                bytes[index] = value
            }
        case 5: bytes.insert(contentsOf: bytes[offset..<offset + length], at: offset)
        case 6: bytes.removeSubrange(offset..<offset + length)
        default:
            // The head of one file and the rest of another.
            let other = originals.randomElement(using: &random) ?? []
            bytes = Array(bytes.prefix(offset)) + other.dropFirst(min(offset, other.count))
        }
    }
}

/// The generator of Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// The checksums of a PNG's chunks (PNG third edition §5.3 and annex D).
private enum PNGChecksums {
    private static let table: [UInt32] = (0..<256).map { entry in
        (0..<8).reduce(UInt32(entry)) { crc, _ in
            crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1
        }
    }

    /// Corrects the checksums up to the first chunk that cannot be parsed; leaves all else unchanged.
    static func renew(in bytes: inout [UInt8]) {
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return }
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = offset + 8 + length
            guard end + 4 <= bytes.count else { return }
            let crc = ~bytes[offset + 4..<end].reduce(~UInt32(0)) {
                table[Int(($0 ^ UInt32($1)) & 255)] ^ $0 >> 8
            }
            for index in 0..<4 {
                bytes[end + index] = UInt8(truncatingIfNeeded: crc >> (24 - 8 * index))
            }
            offset = end + 4
        }
    }
}
