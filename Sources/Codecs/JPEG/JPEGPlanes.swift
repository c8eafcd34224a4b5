/// Samples of a JPEG in planes: one row of MCUs, or all of them.
///
/// It owns its memory, which holds whole MCUs. Samples beyond the photo's edges are the padding in the file, or undefined until
/// ``fillEdges(mcuRow:ofPhoto:)``.
public final class JPEGPlanes {
    /// One component.
    public struct Plane {
        /// The first sample; valid for the lifetime of the planes.
        public let start: UnsafeMutablePointer<UInt8>
        /// Samples from one row to the next, for whole MCUs.
        public let stride: Int
        /// Rows in a row of MCUs.
        public let mcuHeight: Int

        /// Returns a row in a row of MCUs.
        public func row(_ row: Int, of mcuRow: Int) -> UnsafeMutablePointer<UInt8> {
            start + (mcuRow * mcuHeight + row) * stride
        }
    }

    /// The layout of the whole photo.
    public let layout: JPEGLayout
    /// The plane of each component.
    public let planes: [Plane]
    /// The number of rows of MCUs that fit.
    public let mcuRows: Int

    /// Allocates some rows of MCUs of a photo. All samples are 0.
    public init(_ layout: JPEGLayout, mcuRows: Int = 1) {
        self.layout = layout
        self.mcuRows = mcuRows
        planes = layout.sampling.map { sampling in
            let stride = 8 * sampling.horizontal * layout.mcusAcross
            let height = 8 * sampling.vertical
            let start = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * height * mcuRows)
            start.initialize(repeating: 0, count: stride * height * mcuRows)
            return Plane(start: start, stride: stride, mcuHeight: height)
        }
    }

    deinit { for plane in planes { plane.start.deallocate() } }

    /// Returns the bytes of planes with all rows.
    public static func byteCount(_ layout: JPEGLayout) -> Int {
        layout.sampling.reduce(0) { bytes, sampling in
            bytes + 64 * sampling.horizontal * sampling.vertical * layout.mcusAcross
                * layout.mcuRows
        }
    }

    /// Fills the padding of the MCUs with the photo's last column and row.
    ///
    /// - Parameters:
    ///   - mcuRow: the row in these planes.
    ///   - photoRow: the row of MCUs in the photo.
    public func fillEdges(mcuRow: Int = 0, ofPhoto photoRow: Int) {
        for (component, plane) in planes.enumerated() {
            let size = layout.size(of: component)
            let rows = min(plane.mcuHeight, size.height - photoRow * plane.mcuHeight)
            if size.width < plane.stride {
                for row in 0..<rows {
                    let start = plane.row(row, of: mcuRow)
                    (start + size.width).update(
                        repeating: start[size.width - 1], count: plane.stride - size.width)
                }
            }
            for row in rows..<plane.mcuHeight {
                plane.row(row, of: mcuRow).update(
                    from: plane.row(rows - 1, of: mcuRow), count: plane.stride)
            }
        }
    }

    /// A view of the samples of a component.
    public struct Samples {
        /// The address of the photo's first sample, which may be outside of the memory.
        let start: UnsafePointer<UInt8>
        /// Samples from one row to the next.
        let stride: Int

        /// Creates a view of samples that the caller owns.
        public init(start: UnsafePointer<UInt8>, stride: Int) {
            self.start = start
            self.stride = stride
        }
    }

    /// Returns views of the samples in these planes.
    ///
    /// - Parameter photoRow: the photo's row of MCUs that is their first one.
    public func samples(photoRow: Int = 0) -> [Samples] {
        planes.map {
            Samples(start: $0.start - photoRow * $0.mcuHeight * $0.stride, stride: $0.stride)
        }
    }

    /// Fills these planes, made for one row of MCUs of ``JPEGLayout/turned(_:)``, with a row of the turned photo, edges included.
    ///
    /// - Parameters:
    ///   - mcuRow: the row of the turned photo.
    ///   - samples: the photo's samples, of which only the needed ones are read.
    public func fill(_ turn: JPEGTurn, mcuRow: Int, from samples: [Samples]) {
        for (component, photo) in samples.enumerated() {
            let size = layout.size(of: component)
            let result = planes[component]
            let top = mcuRow * result.mcuHeight
            let rows = min(result.mcuHeight, size.height - top)
            // In the photo: the sample for the first column and row, and the strides to the next ones.
            let (right, below) = turn.transposes ? (photo.stride, 1) : (1, photo.stride)
            let column = turn.mirrors ? -right : right
            let row = turn.flips ? -below : below
            let first =
                photo.start + (turn.mirrors ? (size.width - 1) * right : 0)
                + (turn.flips ? (size.height - 1 - top) * below : top * below)
            // Columns in the outer loop: a column of the result may be a row of the photo, which is read whole.
            for x in 0..<size.width {
                let from = first + x * column
                let to = result.start + x
                for y in 0..<rows { to[y &* result.stride] = from[y &* row] }
            }
        }
        fillEdges(ofPhoto: mcuRow)
    }

    /// Provides the address of each component of a row of MCUs, and the strides, in C's types.
    func withPointers<Result>(
        mcuRow: Int,
        _ body: (UnsafePointer<UnsafeMutablePointer<UInt8>?>, UnsafePointer<Int>) -> Result
    ) -> Result {
        precondition((0..<mcuRows).contains(mcuRow), "row \(mcuRow) of \(mcuRows)")
        let starts = planes.map { Optional($0.start + mcuRow * $0.mcuHeight * $0.stride) }
        return body(starts, planes.map(\.stride))
    }
}
