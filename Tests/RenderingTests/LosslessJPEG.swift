/// Lossless JPEG as cameras and DNGs have it (ITU-T T.81 annex H): one component of 16 bits, predicted from the left.
enum LosslessJPEG {
    /// Bits of each code: one for each length of a difference, 0 to 16.
    private static let codeLength = 5

    /// Encodes rows of samples.
    static func encoded(_ rows: [[Int]]) -> [UInt8] {
        let (width, height) = (rows[0].count, rows.count)
        func two(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }
        let counts = (1...16).map { UInt8($0 == codeLength ? 17 : 0) }
        let frame = [16] + two(height) + two(width) + [1, 0, 0x11, 0]
        let file: [UInt8] =
            [0xFF, 0xD8, 0xFF, 0xC3] + two(frame.count + 2) + frame + [0xFF, 0xC4]
            + two(counts.count + 20) + [0] + counts + (0...16).map { UInt8($0) }
            + [0xFF, 0xDA] + two(8) + [1, 0, 0, 1, 0, 0]
        var bits = Bits()
        for (y, row) in rows.enumerated() {
            for (x, sample) in row.enumerated() {
                let left = x > 0 ? row[x - 1] : y > 0 ? rows[y - 1][0] : 1 << 15
                let difference = sample - left
                let length = Int.bitWidth - difference.magnitude.leadingZeroBitCount
                bits.add(length, codeLength)
                bits.add(difference < 0 ? difference + (1 << length) - 1 : difference, length)
            }
        }
        return file + bits.finished() + [0xFF, 0xD9]
    }

    private struct Bits {
        private var bytes: [UInt8] = []
        private var pending = 0, count = 0

        mutating func add(_ value: Int, _ length: Int) {
            pending = pending << length | value
            count += length
            while count >= 8 {
                let byte = UInt8(truncatingIfNeeded: pending >> (count - 8))
                // A zero after 255 tells it from a marker.
                bytes += byte == 255 ? [255, 0] : [byte]
                count -= 8
            }
            pending &= (1 << count) - 1
        }

        mutating func finished() -> [UInt8] {
            if count > 0 { add((1 << (8 - count)) - 1, 8 - count) }
            return bytes
        }
    }
}
