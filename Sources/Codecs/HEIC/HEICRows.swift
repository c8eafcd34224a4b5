public import PhotoFiles

/// The rows of a HEIC's photo, upright and in RGB, from top to bottom, each once.
///
/// A row of tiles is decoded at a time; see ``TileBands``. Not thread-safe.
public final class HEICRows {
    public let width: Int, height: Int
    /// 3, or 4 with alpha.
    public let bands: Int
    /// Bits of a sample in the rows: 8, or 16 for codes of more than 8 bits.
    public let bitsPerSample: Int

    private let still: HEIFStill
    private var file: FileWindow
    private let colours: TileBands
    private let alpha: TileBands?
    private var row: RGBRow?
    private var made = 0

    /// Opens decoders, without decoding yet.
    ///
    /// - Parameter file: read when rows are made.
    public init(_ still: HEIFStill, in file: FileWindow) throws(HEICError) {
        self.still = still
        self.file = file
        (width, height) = (still.placement.width, still.placement.height)
        bands = still.alpha == nil ? 3 : 4
        bitsPerSample = still.bitsPerSample
        do throws(CodecError) {
            colours = try TileBands(still.picture, still.placement, isLumaOnly: false)
            alpha =
                if let picture = still.alpha {
                    try TileBands(picture, still.placement, isLumaOnly: true)
                } else { nil }
        } catch {
            throw .codec(error)
        }
    }

    /// Computes the next row.
    ///
    /// - Parameter target: memory for `width` pixels.
    public func makeRow(into target: UnsafeMutableRawPointer) throws(HEICError) {
        let y = colours.top + made
        let shift = colours.shift
        // The second-nearest row of chroma may lie in the next row of tiles.
        let isLast = y + 1 == colours.rowCount(0)
        let reaches = shift.y == 1 && y & 1 == 1 && !isLast
        // If the photo's first row is the last one of its tiles, both rows of tiles are needed at once.
        try colours.load(row: y, from: &file)
        if reaches { try colours.load(row: y + 1, from: &file) }
        let sampleBytes = still.codeBytes
        let converter = try converter()
        var chroma: (ChromaRow.Rows, ChromaRow.Rows)?
        if colours.hasChroma {
            let near = y >> shift.y
            let far = shift.y == 0 ? near : y & 1 == 1 ? near + 1 : near - 1
            let other = min(max(colours.firstRow(1), far), colours.rowCount(1) - 1)
            chroma = (
                .init(near: colours.row(near, of: 1), far: colours.row(other, of: 1)),
                .init(near: colours.row(near, of: 2), far: colours.row(other, of: 2))
            )
        }
        converter.write(
            luma: colours.row(y, of: 0) + colours.left * sampleBytes, chroma: chroma,
            left: colours.left, count: width, bands: bands, to: target)
        if let alpha {
            try writeAlpha(alpha, to: target)
            if still.isPremultiplied {
                if bitsPerSample == 8 {
                    Self.divideByAlpha(target.assumingMemoryBound(to: UInt8.self), width)
                } else {
                    Self.divideByAlpha(target.assumingMemoryBound(to: UInt16.self), width)
                }
            }
        }
        made += 1
    }

    /// Reverses the multiplication by alpha; transparent pixels become black.
    private static func divideByAlpha<Sample: FixedWidthInteger & UnsignedInteger>(
        _ pixels: UnsafeMutablePointer<Sample>, _ count: Int
    ) {
        let most = UInt64(Sample.max)
        for pixel in 0..<count {
            let codes = pixels + 4 * pixel
            let alpha = UInt64(codes[3])
            guard alpha < most else { continue }
            for band in 0..<3 {
                let whole = (UInt64(codes[band]) * most + alpha / 2) / max(alpha, 1)
                codes[band] = alpha == 0 ? 0 : Sample(min(whole, most))
            }
        }
    }

    private func converter() throws(HEICError) -> RGBRow {
        if let row { return row }
        guard let layout = colours.layout else { throw .contradiction("no tile is decoded") }
        let row = RGBRow(
            try YCbCrColour(layout, declared: still.colour), width: width, shiftX: colours.shift.x,
            chromaLength: colours.hasChroma ? colours.rowLength(1) : 0)
        self.row = row
        return row
    }

    /// Codes of alpha have the full range.
    private func writeAlpha(_ alpha: TileBands, to target: UnsafeMutableRawPointer)
        throws(HEICError)
    {
        let y = alpha.top + made
        try alpha.load(row: y, from: &file)
        guard let bits = alpha.layout?.bits else { throw .contradiction("no alpha is decoded") }
        let codes = alpha.row(y, of: 0)
        let factor = Float((1 << bitsPerSample) - 1) / Float((1 << bits) - 1)
        for x in 0..<width {
            let code =
                bits == 8
                ? Float(codes.load(fromByteOffset: alpha.left + x, as: UInt8.self))
                : Float(codes.load(fromByteOffset: 2 * (alpha.left + x), as: UInt16.self))
            let scaled = UInt16(min(65_535, code * factor + 0.5))
            if bitsPerSample == 8 {
                target.storeBytes(
                    of: UInt8(truncatingIfNeeded: scaled), toByteOffset: 4 * x + 3, as: UInt8.self)
            } else {
                target.storeBytes(of: scaled, toByteOffset: 8 * x + 6, as: UInt16.self)
            }
        }
    }
}

extension HEIFStill {
    /// Bits of a sample in the rows.
    public var bitsPerSample: Int { codeBytes * 8 }
    /// Bytes of a decoded sample.
    var codeBytes: Int { picture.configuration.lumaBits > 8 ? 2 : 1 }
    /// The subsampling of chroma in the upright picture as shifts of columns and rows; nil without chroma.
    public var chromaShift: (x: Int, y: Int)? {
        guard picture.configuration.chromaFormat != 0 else { return nil }
        let shift = TileBands.shift(of: picture.configuration, false)
        return placement.transposes ? (shift.y, shift.x) : shift
    }
    /// Rows of the upright picture that are decoded together.
    public var rowsAtOnce: Int {
        min(placement.transposes ? picture.tileWidth : picture.tileHeight, placement.height)
    }
}
