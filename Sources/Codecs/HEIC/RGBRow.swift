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
