import Codecs

/// Makes rows of red, green and blue from rows of planes.
///
/// Chroma lies in the middle between the samples of luma that it is for, as JPEG has it, and is interpolated between its
/// neighbours by weights of 3 and 1 in each direction. Codes of 8 bits become bytes, those of more bits the whole range of
/// 16 bits, both rounded.
struct RGBRow {
    /// Rows of chroma that a row of luma lies between; the nearer one counts three times.
    struct Chroma {
        let near: UnsafeRawPointer, far: UnsafeRawPointer
    }

    private let colour: YCbCrColour
    private let shiftX: Int
    private let chromaLength: Int
    /// Sixteen times the chroma of a row's pixels.
    private let upsampled: [Scratch]
    private let summed: Scratch
    /// Pixels of 8 bits, red in the lowest byte.
    private let packed: Scratch

    /// - Parameters:
    ///   - shiftX: by how many bits chroma has fewer samples in a row.
    ///   - chromaLength: how many it has.
    init(_ colour: YCbCrColour, width: Int, shiftX: Int, chromaLength: Int) {
        self.colour = colour
        (self.shiftX, self.chromaLength) = (shiftX, chromaLength)
        upsampled = [Scratch(width), Scratch(width)]
        packed = Scratch(width)
        // One more at each end, where the last sample stands again.
        summed = Scratch(chromaLength + 2)
    }

    /// Writes a row.
    ///
    /// - Parameters:
    ///   - luma: of the first pixel.
    ///   - chroma: rows of blue and red difference, from their first sample on; nil for grey.
    ///   - left: the column of the first pixel among all of luma.
    ///   - bands: 3, or 4 to leave room for alpha.
    func write(
        luma: UnsafeRawPointer, chroma: (Chroma, Chroma)?, left: Int, count: Int, bands: Int,
        to row: UnsafeMutableRawPointer
    ) {
        if colour.bits == 8 {
            let luma = luma.assumingMemoryBound(to: UInt8.self)
            let row = row.assumingMemoryBound(to: UInt8.self)
            if let chroma {
                upsample(chroma.0, UInt8.self, left, count, to: upsampled[0])
                upsample(chroma.1, UInt8.self, left, count, to: upsampled[1])
                writeBytes(luma, count, bands, row)
            } else {
                writeGrey(luma, count, bands, row, most: 255)
            }
        } else {
            let luma = luma.assumingMemoryBound(to: UInt16.self)
            let row = row.assumingMemoryBound(to: UInt16.self)
            if let chroma {
                upsample(chroma.0, UInt16.self, left, count, to: upsampled[0])
                upsample(chroma.1, UInt16.self, left, count, to: upsampled[1])
                writeWords(luma, count, bands, row)
            } else {
                writeGrey(luma, count, bands, row, most: 65_535)
            }
        }
    }

    private func upsample<Sample: FixedWidthInteger>(
        _ rows: Chroma, _ kind: Sample.Type, _ left: Int, _ count: Int, to target: Scratch
    ) {
        let near = rows.near.assumingMemoryBound(to: kind)
        let far = rows.far.assumingMemoryBound(to: kind)
        let (sums, out) = (summed.start + 1, target.start)
        guard shiftX == 1 else {
            for x in 0..<count {
                out[x] =
                    4
                    &* (3 &* Int32(truncatingIfNeeded: near[left &+ x])
                        &+ Int32(truncatingIfNeeded: far[left &+ x]))
            }
            return
        }
        let first = left >> 1
        let last = (left + count - 1) >> 1
        for i in max(0, first - 1)...min(chromaLength - 1, last + 1) {
            sums[i] =
                3 &* Int32(truncatingIfNeeded: near[i]) &+ Int32(truncatingIfNeeded: far[i])
        }
        sums[-1] = sums[0]
        sums[chromaLength] = sums[chromaLength - 1]
        // Pairs of pixels between two samples of chroma; one may be left over at each end.
        var (x, i) = (0, first)
        if left & 1 == 1 {
            out[0] = 3 &* sums[i] &+ sums[i &+ 1]
            (x, i) = (1, i &+ 1)
        }
        let (pairs, rest) = ((count &- x) / 2, out + x)
        for pair in 0..<pairs {
            let sample = 3 &* sums[i &+ pair]
            rest[2 &* pair] = sample &+ sums[i &+ pair &- 1]
            rest[2 &* pair &+ 1] = sample &+ sums[i &+ pair &+ 1]
        }
        if x &+ 2 &* pairs < count {
            rest[2 &* pairs] = 3 &* sums[i &+ pairs] &+ sums[i &+ pairs &- 1]
        }
    }

    /// Factors by 2²⁰; sixteenfold chroma takes a sixteenth of them.
    private func writeBytes(
        _ luma: UnsafePointer<UInt8>, _ count: Int, _ bands: Int, _ row: UnsafeMutablePointer<UInt8>
    ) {
        let (blue, red) = (upsampled[0].start, upsampled[1].start)
        guard colour.weights != nil else {
            let levels = line(to: 255)
            for x in 0..<count {
                let out = row + x &* bands
                out[0] = Self.byte(levels.code(Float(red[x]) / 16))
                out[1] = Self.byte(levels.code(Float(luma[x])))
                out[2] = Self.byte(levels.code(Float(blue[x]) / 16))
            }
            return
        }
        let factors = colour.factors
        func fixed(_ factor: Double, _ bits: Int) -> Int32 {
            Int32((factor * 255 * Double(1 << bits)).rounded())
        }
        let scale = fixed(1 / colour.luma.span, 20)
        let start = Int32(1 << 19) - Int32(colour.luma.black) * scale
        let (redByRed, greenByBlue) = (fixed(factors.redByRed, 16), fixed(factors.greenByBlue, 16))
        let (greenByRed, blueByBlue) = (
            fixed(factors.greenByRed, 16), fixed(factors.blueByBlue, 16)
        )
        // Packed first, which is done for several pixels at once, and stored by one store each: the byte too many is
        // the next pixel's, or alpha's, which come later. Three stores of bytes take twice as long.
        let packed = packed.start
        for x in 0..<count {
            let y = Int32(luma[x]) &* scale &+ start
            let (b, r) = (blue[x] &- 2_048, red[x] &- 2_048)
            let code = (
                red: Self.clamped((y &+ r &* redByRed) >> 20),
                green: Self.clamped((y &+ b &* greenByBlue &+ r &* greenByRed) >> 20),
                blue: Self.clamped((y &+ b &* blueByBlue) >> 20)
            )
            packed[x] = code.red | code.green << 8 | code.blue << 16
        }
        let bytes = UnsafeMutableRawPointer(row)
        for x in 0..<count - 1 {
            bytes.storeBytes(
                of: packed[x].littleEndian, toByteOffset: x &* bands, as: Int32.self)
        }
        let (last, code) = (row + (count - 1) * bands, packed[count - 1])
        for band in 0..<3 { last[band] = UInt8(truncatingIfNeeded: code >> Int32(8 * band)) }
    }

    private func writeWords(
        _ luma: UnsafePointer<UInt16>, _ count: Int, _ bands: Int,
        _ row: UnsafeMutablePointer<UInt16>
    ) {
        let (blue, red) = (upsampled[0].start, upsampled[1].start)
        let levels = line(to: 65_535)
        guard colour.weights != nil else {
            for x in 0..<count {
                let out = row + x &* bands
                out[0] = Self.word(levels.code(Float(red[x]) / 16))
                out[1] = Self.word(levels.code(Float(luma[x])))
                out[2] = Self.word(levels.code(Float(blue[x]) / 16))
            }
            return
        }
        let factors = colour.factors
        func scaled(_ factor: Double) -> Float { Float(factor * 65_535 / 16) }
        let (redByRed, greenByBlue) = (scaled(factors.redByRed), scaled(factors.greenByBlue))
        let (greenByRed, blueByBlue) = (scaled(factors.greenByRed), scaled(factors.blueByBlue))
        let zero = Int32(16 * colour.difference.zero)
        for x in 0..<count {
            let y = levels.code(Float(luma[x]))
            let (b, r) = (Float(blue[x] &- zero), Float(red[x] &- zero))
            let out = row + x &* bands
            out[0] = Self.word(y + r * redByRed)
            out[1] = Self.word(y + b * greenByBlue + r * greenByRed)
            out[2] = Self.word(y + b * blueByBlue)
        }
    }

    private func writeGrey<Sample: FixedWidthInteger & UnsignedInteger>(
        _ luma: UnsafePointer<Sample>, _ count: Int, _ bands: Int,
        _ row: UnsafeMutablePointer<Sample>, most: Float
    ) {
        let levels = line(to: Double(most))
        for x in 0..<count {
            let code = Sample(max(0, min(most, levels.code(Float(luma[x])).rounded())))
            let out = row + x &* bands
            (out[0], out[1], out[2]) = (code, code, code)
        }
    }

    /// A line from codes of luma to those of the result.
    private struct Levels {
        let factor: Float, start: Float

        func code(_ luma: Float) -> Float { luma * factor + start }
    }

    private func line(to most: Double) -> Levels {
        let luma = colour.luma
        return Levels(factor: Float(most / luma.span), start: Float(-luma.black * most / luma.span))
    }

    private static func clamped(_ code: Int32) -> Int32 { max(0, min(255, code)) }

    private static func byte(_ code: Float) -> UInt8 {
        UInt8(truncatingIfNeeded: clamped(Int32(code + 0.5)))
    }

    private static func word(_ code: Float) -> UInt16 {
        UInt16(truncatingIfNeeded: Int32(max(0, min(65_535, code)) + 0.5))
    }
}

/// Numbers of one row.
private final class Scratch {
    let start: UnsafeMutablePointer<Int32>

    init(_ count: Int) {
        start = .allocate(capacity: count)
        start.initialize(repeating: 0, count: count)
    }

    deinit { start.deallocate() }
}
