package import Edits

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

    /// The format of the source rows.
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
