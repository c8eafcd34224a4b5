import Edits
import CVips

extension Image {
    /// Returns the same picture, read from top to bottom in small steps, whatever is requested first.
    ///
    /// libvips reads all rows above the first requested one into a cache at once: cropping the last rows of a streamed photo of a
    /// gigapixel would take 3 GB. This goes between a decoder and a part that begins further down.
    public func readInSteps() throws(VipsError) -> Image {
        try computingRows(
            RegionPicture(
                width: width, height: height, bands: bands, format: format,
                interpretation: interpretation),
            SteppedRows(rowBytes: width * bytesPerPixel, height: height))
    }
}

/// Unchanged rows, some at a time.
private final class SteppedRows: RowMaker {
    var reader: RowReader? {
        didSet { strip = nil }
    }
    private let rowBytes, height: Int
    private var strip: RegionPixels?
    private var y = 0

    /// Rows that are requested together.
    private static let stripHeight = 16

    init(rowBytes: Int, height: Int) {
        self.rowBytes = rowBytes
        self.height = height
    }

    func makeRow(into row: UnsafeMutableRawPointer) -> Bool {
        if strip.map({ y >= $0.area.top + $0.area.height }) ?? true {
            strip = reader?.rows(from: y, count: min(Self.stripHeight, height - y))
        }
        guard let strip else { return false }
        row.copyMemory(from: strip.row(y - strip.area.top), byteCount: rowBytes)
        y += 1
        return true
    }
}
