import Boxes

// ISO/IEC 18181-2 §9 (boxes), 18181-1 §D.2 (SizeHeader). libvips 8.14 asks libjxl for no box but the
// codestream's, and libjxl gives up a profile that grows beyond its own limits.
extension PhotoSurvey {
    /// Finds the codestream and reads its size.
    mutating func readJXL(_ file: inout FileWindow) {
        if file.has("\u{0}\u{0}\u{0}\u{C}JXL ", at: 0) {
            guard
                let box = file.boxes(in: 0..<file.length)
                    .first(where: { $0.type == "jxlc" || $0.type == "jxlp" })
            else { return }
            // A part has its number first.
            readSize(&file, at: box.content.lowerBound + (box.type == "jxlp" ? 4 : 0))
        } else {
            readSize(&file, at: 0)
        }
    }

    private mutating func readSize(_ file: inout FileWindow, at place: Int) {
        let codestream = file.bytes(place, 16)
        guard codestream.starts(with: [0xFF, 0x0A]) else { return }
        var bits = Bits(codestream.dropFirst(2))
        let isSmall = bits.take(1) == 1
        let height = isSmall ? 8 * (1 + bits.take(5)) : bits.takeSide()
        let ratio = bits.take(3)
        if let (across, down) = Self.ratios[ratio] {
            setSize(height * across / down, height)
        } else {
            setSize(isSmall ? 8 * (1 + bits.take(5)) : bits.takeSide(), height)
        }
    }

    private static let ratios = [
        1: (1, 1), 2: (12, 10), 3: (4, 3), 4: (3, 2), 5: (16, 9), 6: (5, 4), 7: (2, 1),
    ]

    /// Bits from the lowest of the first byte on; 0 behind the last.
    private struct Bits {
        private let bytes: [UInt8]
        private var place = 0

        init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

        mutating func take(_ count: Int) -> Int {
            var number = 0
            for bit in 0..<count {
                if place / 8 < bytes.count {
                    number |= (Int(bytes[place / 8]) >> (place % 8) & 1) << bit
                }
                place += 1
            }
            return number
        }

        mutating func takeSide() -> Int { 1 + take([9, 13, 18, 30][take(2)]) }
    }
}
