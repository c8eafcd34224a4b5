public import Boxes
import Codecs

/// The planes of a HEIC's photo whose codes mean what those of a JPEG do, upright, from top to bottom, each row once.
///
/// Those are codes of 8 bits with their full range and the matrix of ITU-T BT.601, which is JFIF's; phones write no others but
/// for HDR. Chroma lies where a JPEG's does. A row of tiles is decoded at a time; see ``TileBands``. Not for several
/// threads at once.
public final class HEICPlanes {
    public let width: Int, height: Int
    /// By how many bits chroma has fewer columns and rows: 0 or 1.
    public let chromaShift: (x: Int, y: Int)

    private let still: HEIFStill
    private var file: FileWindow
    private let bands: TileBands
    private let colour: YCbCrColour
    private var made = 0

    /// Opens a decoder; nothing is decoded yet.
    ///
    /// - Parameter file: read from as rows are asked for.
    /// - Returns: nil for a photo with alpha, without chroma, of other codes, or cut where a sample of chroma would be parted.
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
        colour = try YCbCrColour(layout, said: still.colour)
        chromaShift = bands.shift
        let (acrossMask, downMask) = ((1 << chromaShift.x) - 1, (1 << chromaShift.y) - 1)
        guard colour.isOfJPEG, bands.left & acrossMask == 0, bands.top & downMask == 0 else {
            return nil
        }
    }

    /// Copies the next row of luma, and where it is the first that shares it, the row of chroma.
    ///
    /// - Parameters:
    ///   - luma: room for `width` samples.
    ///   - blue, red: room for as many as a row of chroma has.
    /// - Returns: whether chroma was copied.
    public func copyRow(
        luma: UnsafeMutablePointer<UInt8>, blue: UnsafeMutablePointer<UInt8>,
        red: UnsafeMutablePointer<UInt8>
    ) throws(HEICError) -> Bool {
        let y = bands.top + made
        let isFirst = made == 0
        try bands.load(row: y, from: &file)
        // Parameter sets of the stream itself may say what its configuration does not.
        if isFirst,
            try bands.layout.map({ layout throws(HEICError) in
                try YCbCrColour(layout, said: still.colour)
            }) != colour
        {
            throw .contradiction("tiles have other codes than their configuration says")
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
    /// Whether codes mean what they do in a JPEG (JFIF 1.02, "Conversion to and from RGB").
    fileprivate var isOfJPEG: Bool {
        bits == 8 && isFullRange && weights?.red == 0.299 && weights?.blue == 0.114
    }
}
