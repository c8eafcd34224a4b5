package import Adjustments

/// The photo's rows in planes.
package final class PhotoRows: PhotoSource, InterleavedSource {
    package let format: RowFormat
    private let program: PixelProgram
    /// The same to interleaved samples.
    private let interleaving: PixelProgram
    package var reader: (any PhotoReader)? {
        didSet { strip = nil }
    }
    package private(set) var hasFailed = false
    private var strip: RegionPixels?
    private var y = 0

    /// Rows that are asked for together.
    static let stripHeight = 16

    package init(_ format: RowFormat, _ program: PixelProgram, _ interleaving: PixelProgram) {
        self.format = format
        self.program = program
        self.interleaving = interleaving
    }

    package func next(into row: PlanarRow) { next(program, into: row.start, stride: row.stride) }

    package func next(interleaved row: UnsafeMutablePointer<Float>) {
        next(interleaving, into: row, stride: 0)
    }

    private func next(_ program: PixelProgram, into row: UnsafeMutablePointer<Float>, stride: Int) {
        defer { y += 1 }
        if strip.map({ y >= $0.area.top + $0.area.height }) ?? true {
            let height = min(Self.stripHeight, format.height - y)
            strip = hasFailed ? nil : reader?.rows(from: y, count: height)
        }
        guard let strip else {
            hasFailed = true
            return
        }
        program.run(
            strip.row(y - strip.area.top), at: (0, y), count: format.width, into: row,
            stride: stride)
    }
}
