package import Edits

/// The photo's rows in planes.
package final class PhotoRows: PhotoSource, InterleavedSource {
    package let format: RowFormat
    private let program: PixelProgram
    /// The same program with interleaved output.
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
