/// Samples of a JPEG in planes: one row of MCUs, or all of them.
///
/// Owns its memory. Rows and columns that fill up the last block are there too; of the last row of
/// MCUs, those that no block covers are left as they were.
public final class JPEGPlanes {
    /// One component.
    public struct Plane {
        /// The first sample; valid as long as the planes.
        public let start: UnsafeMutablePointer<UInt8>
        /// Samples from the start of a row to the next.
        public let stride: Int
        /// Rows of a row of MCUs.
        public let mcuHeight: Int
    }

    /// One for each component.
    public let planes: [Plane]
    /// Rows of MCUs there is room for.
    public let mcuRows: Int

    /// Makes room for some rows of MCUs of a layout. All samples are 0.
    public init(_ layout: JPEGLayout, mcuRows: Int = 1) {
        self.mcuRows = mcuRows
        planes = layout.sampling.enumerated().map { component, sampling in
            let stride = layout.samplesAcross(component)
            let height = 8 * sampling.vertical
            let start = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * height * mcuRows)
            start.initialize(repeating: 0, count: stride * height * mcuRows)
            return Plane(start: start, stride: stride, mcuHeight: height)
        }
    }

    deinit { for plane in planes { plane.start.deallocate() } }

    /// Bytes that planes of all rows take.
    public static func byteCount(_ layout: JPEGLayout) -> Int {
        layout.sampling.enumerated().reduce(0) { bytes, entry in
            bytes + layout.samplesAcross(entry.offset) * 8 * entry.element.vertical * layout.mcuRows
        }
    }

    /// Where each component of a row of MCUs begins, and the strides, as C wants them.
    func withPointers<Result>(
        mcuRow: Int,
        _ body: (UnsafePointer<UnsafeMutablePointer<UInt8>?>, UnsafePointer<Int>) -> Result
    ) -> Result {
        precondition((0..<mcuRows).contains(mcuRow), "row \(mcuRow) of \(mcuRows)")
        let starts = planes.map { Optional($0.start + mcuRow * $0.mcuHeight * $0.stride) }
        return body(starts, planes.map(\.stride))
    }
}
