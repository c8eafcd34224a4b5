/// Converts rows of planes to rows of red, green and blue.
///
/// Chroma is upsampled by ``ChromaRow``. Codes of 8 bits become bytes; codes of more bits are scaled to the range of 16 bits. Both
/// are rounded.
struct RGBRow {
    private let colour: YCbCrColour
    /// Sixteen times the chroma of a row's pixels.
    private let upsampled: [ChromaRow]
    /// Pixels of 8 bits, red in the lowest byte.
    private let packed: Scratch

    /// - Parameters:
    ///   - shiftX: the horizontal subsampling of chroma as a shift.
    ///   - chromaLength: samples of chroma in a row.
    init(_ colour: YCbCrColour, width: Int, shiftX: Int, chromaLength: Int) {
        self.colour = colour
        upsampled = (0..<2).map { _ in ChromaRow(width: width, shiftX: shiftX, length: chromaLength)
        }
        packed = Scratch(width)
    }

    /// Writes a row.
    ///
    /// - Parameters:
    ///   - luma: the luma of the first pixel.
    ///   - chroma: rows of blue and red difference, from their first sample on; nil for grey.
    ///   - left: the column of the first pixel in the luma plane.
    ///   - bands: 3, or 4 to leave a gap for alpha.
    func write(
        luma: UnsafeRawPointer, chroma: (ChromaRow.Rows, ChromaRow.Rows)?, left: Int, count: Int,
        bands: Int,
        to row: UnsafeMutableRawPointer
    ) {
        if colour.bits == 8 {
            let luma = luma.assumingMemoryBound(to: UInt8.self)
            let row = row.assumingMemoryBound(to: UInt8.self)
            if let chroma {
                upsampled[0].fill(from: chroma.0, UInt8.self, left: left, count: count)
                upsampled[1].fill(from: chroma.1, UInt8.self, left: left, count: count)
                writeBytes(luma, count, bands, row)
            } else {
                writeGrey(luma, count, bands, row, most: 255)
            }
        } else {
            let luma = luma.assumingMemoryBound(to: UInt16.self)
            let row = row.assumingMemoryBound(to: UInt16.self)
            if let chroma {
                upsampled[0].fill(from: chroma.0, UInt16.self, left: left, count: count)
                upsampled[1].fill(from: chroma.1, UInt16.self, left: left, count: count)
                writeWords(luma, count, bands, row)
            } else {
                writeGrey(luma, count, bands, row, most: 65_535)
            }
        }
    }

    /// Factors are scaled by 2²⁰; those of chroma by a sixteenth of that, because chroma is sixteenfold.
    private func writeBytes(
        _ luma: UnsafePointer<UInt8>, _ count: Int, _ bands: Int, _ row: UnsafeMutablePointer<UInt8>
    ) {
        let (blue, red) = (upsampled[0].values, upsampled[1].values)
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
        // Pixels are packed first, which is vectorized, and then stored with one store each. The extra byte belongs to the next
        // pixel or to alpha, which are written later. Three stores of bytes take twice as long.
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
        let (blue, red) = (upsampled[0].values, upsampled[1].values)
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

    /// A linear function from codes of luma to those of the result.
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

/// The chroma of each pixel of a row, from planes that may have fewer samples than luma.
///
/// Chroma lies in the middle of the luma samples that share it, as in JPEG, and is interpolated between its neighbours with weights
/// of 3 and 1 in each direction.
package final class ChromaRow {
    /// The two rows of chroma around a row of luma; the nearer one has weight 3.
    package struct Rows {
        let near: UnsafeRawPointer, far: UnsafeRawPointer

        /// Creates a pair of rows, each from its first sample on; the same row twice if chroma has full vertical resolution.
        package init(near: UnsafeRawPointer, far: UnsafeRawPointer) {
            (self.near, self.far) = (near, far)
        }
    }

    private let shiftX: Int
    private let length: Int
    private let upsampled: Scratch
    private let summed: Scratch

    package var values: UnsafeMutablePointer<Int32> { upsampled.start }

    /// - Parameters:
    ///   - width: most pixels.
    ///   - shiftX: the horizontal subsampling of chroma as a shift: 0 or 1.
    ///   - length: samples of chroma in a row.
    package init(width: Int, shiftX: Int, length: Int) {
        (self.shiftX, self.length) = (shiftX, length)
        upsampled = Scratch(width)
        // One more at each end, which repeats the outermost sample.
        summed = Scratch(length + 2)
    }

    /// Computes ``values`` for some pixels.
    ///
    /// - Parameters:
    ///   - sampleBytes: bytes of a sample: 1, or 2 in the machine's byte order. It is not a type parameter: a generic method of
    ///     another module is not specialised, which took a third of the time of a blur of a movie's frame.
    ///   - left: the column of the first pixel in the luma plane.
    ///   - count: at least 1.
    package func fill(from rows: Rows, sampleBytes: Int, left: Int, count: Int) {
        if sampleBytes == 1 {
            fill(from: rows, UInt8.self, left: left, count: count)
        } else {
            fill(from: rows, UInt16.self, left: left, count: count)
        }
    }

    func fill<Sample: FixedWidthInteger>(
        from rows: Rows, _ kind: Sample.Type, left: Int, count: Int
    ) {
        let near = rows.near.assumingMemoryBound(to: kind)
        let far = rows.far.assumingMemoryBound(to: kind)
        let (sums, out) = (summed.start + 1, upsampled.start)
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
        for i in max(0, first - 1)...min(length - 1, last + 1) {
            sums[i] =
                3 &* Int32(truncatingIfNeeded: near[i]) &+ Int32(truncatingIfNeeded: far[i])
        }
        sums[-1] = sums[0]
        sums[length] = sums[length - 1]
        // Pairs of pixels between two samples of chroma; one pixel may remain at each end.
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
}

/// Numbers of one row.
final class Scratch {
    let start: UnsafeMutablePointer<Int32>

    init(_ count: Int) {
        start = .allocate(capacity: max(1, count))
        start.initialize(repeating: 0, count: max(1, count))
    }

    deinit { start.deallocate() }
}
