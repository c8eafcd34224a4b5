import Pixels

/// An edited colour of planes in 32 bits, packed so that up to four can be summed for their mean.
///
/// Luma is in the highest byte. Red and blue chroma are in quarters of a code, 12 bits each, so that the mean of four is rounded
/// only once.
enum PackedColour {
    /// Packs codes from 0 to 255, which are clamped; luma is rounded.
    @inline(__always)
    static func pack(luma: Float, blue: Float, red: Float) -> UInt32 {
        whole(luma, 1) &<< 24 | whole(red, 4) &<< 12 | whole(blue, 4)
    }

    @inline(__always)
    private static func whole(_ code: Float, _ parts: Float) -> UInt32 {
        let above = code > 0 ? code : 0
        let clamped = above < 255 ? above : 255
        return UInt32(bitPattern: Int32(clamped * parts + 0.5))
    }

    @inline(__always)
    static func luma(_ colour: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: colour &>> 24) }

    /// Returns the mean of 2^shift colours. Its luma is meaningless.
    @inline(__always)
    static func meanBlue(_ sum: UInt32, shift: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: (sum & 0xFFF &+ 2 &<< shift) &>> (2 &+ shift))
    }

    @inline(__always)
    static func meanRed(_ sum: UInt32, shift: UInt32) -> UInt8 {
        meanBlue(sum &>> 12, shift: shift)
    }
}

extension ColourMemo {
    /// Returns the index of a chroma and the first of 32 lumas.
    static func place(blue: UInt8, red: UInt8, luma: UInt8) -> Int {
        Int(blue) &<< 11 | Int(red) &<< 3 | Int(luma) &>> 5
    }

    /// Returns the chroma and the first luma of an index.
    static func codes(of place: Int) -> (blue: UInt8, red: UInt8, luma: UInt8) {
        (
            UInt8(truncatingIfNeeded: place >> 11), UInt8(truncatingIfNeeded: place >> 3),
            UInt8(truncatingIfNeeded: place << 5)
        )
    }

    /// Replaces a row of chroma and the luma that shares it.
    ///
    /// - Parameters:
    ///   - luma: the first row of luma; `below` is the second row, if there is one.
    ///   - luma: the first row of luma; `below` is the second, where there is one.
    ///   - count: samples of chroma.
    ///   - across, down: samples of luma to a sample of chroma. Literals: the loops are unrolled.
    ///   - shift: the binary logarithm of across × down.
    @inline(__always)
    func replace(
        luma: UnsafeMutablePointer<UInt8>, below: UnsafeMutablePointer<UInt8>,
        blue: UnsafeMutablePointer<UInt8>, red: UnsafeMutablePointer<UInt8>, count: Int,
        across: Int, down: Int, shift: UInt32, _ fill: Fill
    ) {
        let (pages, results, length) = (pages, results, Self.run)
        for column in 0..<count {
            let chroma = Self.place(blue: blue[column], red: red[column], luma: 0)
            let start = luma + column &* across
            let lower = below + column &* across
            let first = Int(start[0])
            let second = across == 2 ? Int(start[1]) : first
            let third = down == 2 ? Int(lower[0]) : first
            let fourth = down == 2 && across == 2 ? Int(lower[1]) : first
            var sum: UInt32 = 0
            let place = chroma | first &>> 5
            if (first ^ second) | (first ^ third) | (first ^ fourth) < length {
                var run = Int(pages[place])
                if run == 0 { run = make(place, fill) }
                let colours = results + run &<< 5
                for y in 0..<down {
                    let row = y == 0 ? start : lower
                    for x in 0..<across {
                        let result = colours[Int(row[x]) & 31]
                        row[x] = PackedColour.luma(result)
                        sum &+= result
                    }
                }
            } else {
                for y in 0..<down {
                    let row = y == 0 ? start : lower
                    for x in 0..<across {
                        let code = Int(row[x])
                        let place = chroma | code &>> 5
                        var run = Int(pages[place])
                        if run == 0 { run = make(place, fill) }
                        let result = results[run &<< 5 | code & 31]
                        row[x] = PackedColour.luma(result)
                        sum &+= result
                    }
                }
            }
            blue[column] = PackedColour.meanBlue(sum, shift: shift)
            red[column] = PackedColour.meanRed(sum, shift: shift)
        }
    }
}
