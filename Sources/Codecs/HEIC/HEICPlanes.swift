public import PhotoFiles

/// The planes of a HEIC's photo whose codes have the meaning of a JPEG's, upright, from top to bottom, each row once.
///
/// These are codes of 8 bits with full range and the matrix of ITU-T BT.601, which is JFIF's; phones write no others except for
/// HDR. Chroma has the same position as in a JPEG. A row of tiles is decoded at a time; see ``TileBands``. Not thread-safe.
public final class HEICPlanes {
    public let width: Int, height: Int
    /// The subsampling of chroma as shifts of columns and rows: 0 or 1.
    public let chromaShift: (x: Int, y: Int)

    private let still: HEIFStill
    private var file: FileWindow
    private let bands: TileBands
    private let colour: YCbCrColour
    private var made = 0

    /// Opens a decoder, without decoding yet.
    ///
    /// - Parameter file: read when rows are requested.
    /// - Returns: nil for a photo with alpha, without chroma, with other codes, or with a crop that splits a sample of chroma.
    public init?(_ still: HEIFStill, in file: FileWindow) throws(HEICError) {
        self.still = still
        self.file = file
        (width, height) = (still.placement.width, still.placement.height)
        guard still.alpha == nil else { return nil }
        do throws(CodecError) {
            bands = try TileBands(still.picture, still.placement, isLumaOnly: false)
        } catch {
            throw .codec(error)
        }
        guard bands.hasChroma, let layout = bands.configured else { return nil }
        colour = try YCbCrColour(layout, declared: still.colour)
        chromaShift = bands.shift
        let (acrossMask, downMask) = ((1 << chromaShift.x) - 1, (1 << chromaShift.y) - 1)
        guard colour.matchesJPEG, bands.left & acrossMask == 0, bands.top & downMask == 0 else {
            return nil
        }
    }

    /// Copies the next row of luma, and the row of chroma if this is the first row that shares it.
    ///
    /// - Parameters:
    ///   - luma: memory for `width` samples.
    ///   - blue, red: memory for a row of chroma.
    /// - Returns: whether chroma was copied.
    public func copyRow(
        luma: UnsafeMutablePointer<UInt8>, blue: UnsafeMutablePointer<UInt8>,
        red: UnsafeMutablePointer<UInt8>
    ) throws(HEICError) -> Bool {
        let y = bands.top + made
        let isFirst = made == 0
        try bands.load(row: y, from: &file)
        // Parameter sets in the stream may contain more than the configuration.
        if isFirst,
            try bands.layout.map({ layout throws(HEICError) in
                try YCbCrColour(layout, declared: still.colour)
            }) != colour
        {
            throw .contradiction("the codes of tiles contradict their configuration")
        }
        made += 1
        copy(0, row: y, left: bands.left, count: width, to: luma)
        guard (y & ((1 << chromaShift.y) - 1)) == 0 else { return false }
        let count = (width + (1 << chromaShift.x) - 1) >> chromaShift.x
        for (plane, target) in [(1, blue), (2, red)] {
            copy(
                plane, row: y >> chromaShift.y, left: bands.left >> chromaShift.x, count: count,
                to: target)
        }
        return true
    }

    private func copy(
        _ plane: Int, row: Int, left: Int, count: Int, to target: UnsafeMutablePointer<UInt8>
    ) {
        UnsafeMutableRawPointer(target).copyMemory(
            from: bands.row(row, of: plane) + left, byteCount: count)
    }
}

extension YCbCrColour {
    /// Whether codes have the meaning of a JPEG's (JFIF 1.02, "Conversion to and from RGB").
    fileprivate var matchesJPEG: Bool {
        bits == 8 && isFullRange && weights?.red == 0.299 && weights?.blue == 0.114
    }
}

/// The conversion from codes of luma and colour difference to red, green and blue.
///
/// Sources: ITU-T H.273 §8.3 (matrix coefficients and ranges); ISO/IEC 23000-22 (MIAF) §7.3.6.4 for the defaults: matrix 6, full
/// range.
package struct YCbCrColour: Sendable, Equatable {
    /// Weights of red and blue in luma; nil if the planes are green, blue and red themselves.
    package let weights: (red: Double, blue: Double)?
    package let isFullRange: Bool
    package let bits: Int

    /// Reads the colour of decoded planes: from `colr`, otherwise from the stream, otherwise MIAF's default.
    init(_ layout: FrameLayout, declared: HEIFProperty.CodedColour?) throws(HEICError) {
        // H.273: matrix 2 is unspecified.
        try self.init(
            matrix: [declared?.matrix, layout.matrix].compactMap(\.self).first { $0 != 2 } ?? 6,
            isFullRange: declared?.isFullRange ?? layout.isFullRange ?? true, bits: layout.bits)
    }

    /// The colour of a matrix of H.273.
    package init(matrix: Int, isFullRange: Bool, bits: Int) throws(HEICError) {
        (self.isFullRange, self.bits) = (isFullRange, bits)
        switch matrix {
        case 0: weights = nil
        case 1: weights = (0.2126, 0.0722)
        case 4: weights = (0.30, 0.11)
        case 5, 6: weights = (0.299, 0.114)
        case 7: weights = (0.212, 0.087)
        case 9, 10: weights = (0.2627, 0.0593)
        default: throw .unsupported("colours by matrix \(matrix) of H.273")
        }
    }

    package static func == (a: YCbCrColour, b: YCbCrColour) -> Bool {
        a.weights?.red == b.weights?.red && a.weights?.blue == b.weights?.blue
            && a.isFullRange == b.isFullRange && a.bits == b.bits
    }

    /// The code of black, and the number of codes between it and white.
    package var luma: (black: Double, span: Double) {
        let step = Double(1 << (bits - 8))
        return isFullRange ? (0, Double((1 << bits) - 1)) : (16 * step, 219 * step)
    }

    /// The code of no difference, and the number of codes between the least and the greatest one.
    package var difference: (zero: Double, span: Double) {
        let step = Double(1 << (bits - 8))
        return (128 * step, isFullRange ? Double((1 << bits) - 1) : 224 * step)
    }

    /// The change of red, green (by blue and by red) and blue per code of difference, in units of 1.
    package var factors:
        (redByRed: Double, greenByBlue: Double, greenByRed: Double, blueByBlue: Double)
    {
        guard let weights else { return (0, 0, 0, 0) }
        let (red, blue) = (2 * (1 - weights.red), 2 * (1 - weights.blue))
        let green = 1 - weights.red - weights.blue
        return (
            red / difference.span, -weights.blue * blue / green / difference.span,
            -weights.red * red / green / difference.span, blue / difference.span
        )
    }
}

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

/// The reason why pixels of a HEIC cannot be decoded.
public enum HEICError: Error, Sendable {
    case codec(CodecError)
    /// A decoded tile contradicts the boxes; the text gives the details.
    case contradiction(String)
    /// Unsupported colour codes; the text gives the details.
    case unsupported(String)
}

extension HEICError: CustomStringConvertible {
    /// Text for people, to follow the name of the file or part.
    public var description: String {
        switch self {
        case .codec(let error): "\(error)"
        case .contradiction(let reason): reason
        case .unsupported(let reason): "\(reason), which is not supported"
        }
    }
}
