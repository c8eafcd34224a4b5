package import Edits

/// The photo's rows in planes.
package final class PhotoRows: PhotoSource, InterleavedSource {
    package let format: RowFormat
    private let program: PixelProgram
    private let interleaving: PixelProgram
    private var strips: PhotoStrips
    package var reader: (any PhotoReader)? {
        get { strips.reader }
        set { strips.reader = newValue }
    }
    package var hasFailed: Bool { strips.hasFailed }

    package init(_ format: RowFormat, _ program: PixelProgram, _ interleaving: PixelProgram) {
        self.format = format
        self.program = program
        self.interleaving = interleaving
        strips = PhotoStrips(rows: format.height)
    }

    package func next(into row: PlanarRow) { next(program, into: row.start, stride: row.stride) }

    package func next(interleaved row: UnsafeMutablePointer<Float>) {
        next(interleaving, into: row, stride: 0)
    }

    private func next(_ program: PixelProgram, into row: UnsafeMutablePointer<Float>, stride: Int) {
        let (y, pixels) = strips.next()
        guard let pixels else { return }
        program.run(pixels, at: (0, y), count: format.width, into: row, stride: stride)
    }
}

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

/// A reader of the pixels of a photo, valid for one call.
package protocol PhotoReader {
    /// Returns some whole rows, or nil if they cannot be read.
    func rows(from top: Int, count: Int) -> RegionPixels?
    /// Returns any rectangle of a photo that can be read in any order.
    func pixels(of area: PixelArea) -> RegionPixels?
}

/// The source of a chain's rows: a photo that is read while they are made.
package protocol PhotoSource: RowSource {
    /// The reader of the photo; nil while no row is being made. Read pixels are invalid then.
    var reader: (any PhotoReader)? { get set }
    var hasFailed: Bool { get }
}

/// Rows of a result.
package protocol CodedRowSource: AnyObject {
    /// The reader of the photo; nil when no row is being made.
    var reader: (any PhotoReader)? { get set }
    /// Computes the next row.
    ///
    /// - Returns: whether all of it could be read.
    func makeRow(into row: UnsafeMutableRawPointer) -> Bool
}

/// Rows in the format of the result.
package final class CodedRows: CodedRowSource {
    private let source: any RowSource
    private let photo: any PhotoSource
    private let program: PixelProgram
    private let memory: UnsafeMutablePointer<Float>
    private let stride: Int
    private var y = 0

    package init(_ source: any RowSource, of photo: any PhotoSource, _ program: PixelProgram) {
        self.source = source
        self.photo = photo
        self.program = program
        stride = (source.format.width + RowFormat.block + 15) & ~15
        memory = .allocate(capacity: stride * source.format.planes)
        memory.initialize(repeating: 0, count: stride * source.format.planes)
    }

    deinit { memory.deallocate() }

    package var format: RowFormat { source.format }

    package var reader: (any PhotoReader)? {
        get { photo.reader }
        set { photo.reader = newValue }
    }

    package func makeRow(into row: UnsafeMutableRawPointer) -> Bool {
        compute(into: row)
        return !photo.hasFailed
    }

    /// Computes the next row, even if not all of it could be read.
    func compute(into row: UnsafeMutableRawPointer) {
        source.next(into: PlanarRow(start: memory, stride: stride))
        program.run(memory, at: (0, y), count: source.format.width, into: row, stride: stride)
        y += 1
    }
}

/// Rows with per-pixel filters applied.
package final class FilteredRows: RowSource {
    private let source: any RowSource
    private let program: PixelProgram
    private var y = 0
    package var format: RowFormat { source.format }

    package init(_ source: any RowSource, _ program: PixelProgram) {
        self.source = source
        self.program = program
    }

    package func next(into row: PlanarRow) {
        source.next(into: row)
        program.run(
            row.start, at: (0, y), count: format.width, into: row.start, stride: row.stride)
        y += 1
    }
}
