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
