import Edits

/// Rows that another thread makes.
final class StagedSource: RowSource {
    let format: RowFormat
    private let ring: RowRing

    init(_ format: RowFormat, _ ring: RowRing) {
        self.format = format
        self.ring = ring
    }

    /// Rows that are passed on together.
    static let block = 8

    /// Returns the samples from one plane to the next in a ring.
    private static func stride(_ format: RowFormat) -> Int {
        (format.width + RowFormat.block + 15) & ~15
    }

    /// Returns the bytes of a row in a ring.
    static func rowBytes(_ format: RowFormat) -> Int {
        stride(format) * format.planes * MemoryLayout<Float>.stride
    }

    /// Returns a row in a ring.
    static func row(_ format: RowFormat, at start: UnsafeMutableRawPointer) -> PlanarRow {
        let samples = stride(format) * format.planes
        return PlanarRow(
            start: start.bindMemory(to: Float.self, capacity: samples), stride: stride(format))
    }

    func next(into row: PlanarRow) {
        // The ring is closed: no thread reads the rows any more.
        guard let start = ring.next() else { return }
        let made = Self.row(format, at: start)
        for plane in 0..<format.planes {
            row[plane].update(from: made[plane], count: format.width)
        }
        ring.release()
    }
}
