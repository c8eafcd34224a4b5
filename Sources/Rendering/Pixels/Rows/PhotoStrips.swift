import Edits

/// The rows of a photo, one after the other, read in strips.
struct PhotoStrips {
    /// Rows that are requested together; strips begin at multiples of it.
    static let height = 16

    private let rows: Int
    /// The reader of the photo; nil while no row is being made. Read pixels are invalid then.
    var reader: (any PhotoReader)? {
        didSet { strip = nil }
    }
    /// Whether a row could not be read. Further reads fail too.
    private(set) var hasFailed = false
    private var strip: RegionPixels?
    private var y = 0

    /// - Parameter rows: the number of the photo's rows.
    init(rows: Int) { self.rows = rows }

    /// Returns the number and the pixels of the next row; nil for the pixels if it cannot be read.
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
