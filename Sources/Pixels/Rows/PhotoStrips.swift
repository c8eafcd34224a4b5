import Adjustments

/// The rows of a photo one after the other, read some at a time.
struct PhotoStrips {
    /// Rows that are asked for together; strips begin at multiples of it.
    static let height = 16

    private let rows: Int
    /// The reader of the photo; nil when no row is being made, and what was read is gone then.
    var reader: (any PhotoReader)? {
        didSet { strip = nil }
    }
    /// Whether a row could not be read: none after it is either.
    private(set) var hasFailed = false
    private var strip: RegionPixels?
    private var y = 0

    /// - Parameter rows: of the photo.
    init(rows: Int) { self.rows = rows }

    /// The next row and its number; nil for its pixels when it cannot be read.
    mutating func next() -> (row: Int, pixels: UnsafeMutableRawPointer?) {
        defer { y += 1 }
        if strip.map({ y >= $0.area.top + $0.area.height }) ?? true {
            let count = min(Self.height - y % Self.height, rows - y)
            strip = hasFailed ? nil : reader?.rows(from: y, count: count)
        }
        hasFailed = hasFailed || strip == nil
        return (y, strip.map { $0.row(y - $0.area.top) })
    }
}
