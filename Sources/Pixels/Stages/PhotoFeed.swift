import Adjustments

/// Reads the rows of a photo for another thread.
final class PhotoFeed {
    private let height: Int
    private let rowBytes: Int
    /// The reader of the photo; nil when no row is being made, and what was read is gone then.
    var reader: (any PhotoReader)? {
        didSet { strip = nil }
    }
    private(set) var hasFailed = false
    private var strip: RegionPixels?
    private var y = 0

    init(height: Int, rowBytes: Int) { (self.height, self.rowBytes) = (height, rowBytes) }

    /// Reads the next row.
    func read(into row: UnsafeMutableRawPointer) {
        defer { y += 1 }
        if strip.map({ y >= $0.area.top + $0.area.height }) ?? true {
            let block = PhotoRows.stripHeight
            let count = min(block - y % block, height - y)
            strip = hasFailed ? nil : reader?.rows(from: y, count: count)
        }
        guard let strip else {
            hasFailed = true
            return
        }
        row.copyMemory(from: strip.row(y - strip.area.top), byteCount: rowBytes)
    }
}
