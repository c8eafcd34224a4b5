/// Samples of a JPEG in planes: one row of MCUs, or all of them.
///
/// Owns its memory. There is room for whole MCUs: what lies beyond the photo's edges is what fills up
/// the last blocks of the file, or nothing yet, until ``fillEdges(mcuRow:ofPhoto:)``.
public final class JPEGPlanes {
    /// One component.
    public struct Plane {
        /// The first sample; valid as long as the planes.
        public let start: UnsafeMutablePointer<UInt8>
        /// Samples from the start of a row to the next: those of whole MCUs.
        public let stride: Int
        /// Rows of a row of MCUs.
        public let mcuHeight: Int

        /// A row of a row of MCUs.
        public func row(_ row: Int, of mcuRow: Int) -> UnsafeMutablePointer<UInt8> {
            start + (mcuRow * mcuHeight + row) * stride
        }
    }

    /// Of the whole photo.
    public let layout: JPEGLayout
    /// One for each component.
    public let planes: [Plane]
    /// Rows of MCUs there is room for.
    public let mcuRows: Int

    /// Makes room for some rows of MCUs of a photo. All samples are 0.
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

    /// Bytes that planes of all rows take.
    public static func byteCount(_ layout: JPEGLayout) -> Int {
        layout.sampling.reduce(0) { bytes, sampling in
            bytes + 64 * sampling.horizontal * sampling.vertical * layout.mcusAcross
                * layout.mcuRows
        }
    }

    /// Repeats the photo's last column and row to the edges of the MCUs.
    ///
    /// - Parameters:
    ///   - mcuRow: of these planes.
    ///   - photoRow: which row of MCUs of the photo that is.
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

    /// Samples of a component, wherever they lie.
    public struct Samples {
        /// Where the first one of the photo is, or would be.
        let start: UnsafePointer<UInt8>
        /// Samples from the start of a row to the next.
        let stride: Int

        /// Makes a view of samples that somebody else owns.
        public init(start: UnsafePointer<UInt8>, stride: Int) {
            self.start = start
            self.stride = stride
        }
    }

    /// The samples that these planes have.
    ///
    /// - Parameter photoRow: which row of MCUs of the photo is their first one.
    public func samples(photoRow: Int = 0) -> [Samples] {
        planes.map {
            Samples(start: $0.start - photoRow * $0.mcuHeight * $0.stride, stride: $0.stride)
        }
    }

    /// Fills these planes, made for one row of MCUs of ``JPEGLayout/turned(_:)``, with such a row of the
    /// turned photo, edges included.
    ///
    /// - Parameters:
    ///   - mcuRow: of the turned photo.
    ///   - samples: the photo's; those that come to lie in the row are read.
    public func fill(_ turn: JPEGTurn, mcuRow: Int, from samples: [Samples]) {
        for (component, photo) in samples.enumerated() {
            let size = layout.size(of: component)
            let result = planes[component]
            let top = mcuRow * result.mcuHeight
            let rows = min(result.mcuHeight, size.height - top)
            // In the photo: the sample of the first column and row, and the way to the next ones.
            let (right, below) = turn.transposes ? (photo.stride, 1) : (1, photo.stride)
            let column = turn.mirrors ? -right : right
            let row = turn.flips ? -below : below
            let first =
                photo.start + (turn.mirrors ? (size.width - 1) * right : 0)
                + (turn.flips ? (size.height - 1 - top) * below : top * below)
            // Columns outside: a column of the result may be a row of the photo, which is read whole.
            for x in 0..<size.width {
                let from = first + x * column
                let to = result.start + x
                for y in 0..<rows { to[y &* result.stride] = from[y &* row] }
            }
        }
        fillEdges(ofPhoto: mcuRow)
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
