import CCodecs
import Glibc

/// The encoding of samples.
public struct JPEGCoding: Sendable, Equatable {
    /// 1 to 100: scales the tables of ITU-T T.81 Annex K, like libvips' `jpegsave`.
    public var quality: Int
    /// Coarse first, in many scans, which needs 2 bytes of memory per sample.
    public var isProgressive: Bool
    /// Huffman tables computed for this photo: some 3 % smaller, with an additional pass and 2 bytes of memory per sample.
    public var isOptimised: Bool

    public init(quality: Int, isProgressive: Bool = false, isOptimised: Bool = false) {
        self.quality = quality
        self.isProgressive = isProgressive
        self.isOptimised = isOptimised
    }
}

/// Writes one JPEG file from planes, or from rows of RGB.
///
/// One thread uses it at a time. If it fails or is dropped before the end, the file is incomplete.
public final class JPEGWriter {
    let shim: OpaquePointer
    private let descriptor: Int32
    /// The photo whose coefficients are being written.
    private let source: JPEGReader?

    /// Truncates an open file, and writes the header and the segments.
    ///
    /// - Parameters:
    ///   - file: a descriptor; the bytes before `offset` are kept. The writer keeps a duplicate, and does not change its offset.
    ///   - comesInRows: whether the picture comes in rows of RGB, which the library converts to YCbCr of the layout's sampling.
    ///   - markers: in the order in which they are written. libjpeg-turbo writes JFIF's APP0 and Adobe's APP14 itself, so they must
    ///     not be among them.
    /// - Throws: ``JPEGError``; `notWritten(ENOSPC)` for a full disk.
    public init(
        _ file: Int32, from offset: Int = 0, layout: JPEGLayout, coding: JPEGCoding,
        density: JPEGDensity = .unknown, comesInRows: Bool = false,
        markers: [JPEGMarker] = []
    ) throws(JPEGError) {
        precondition((1...100).contains(coding.quality), "quality \(coding.quality)")
        (shim, descriptor) = try Self.start(file, from: offset)
        source = nil
        var settings = minilab_jpeg_settings()
        settings.width = Int32(layout.width)
        settings.height = Int32(layout.height)
        settings.components = Int32(layout.sampling.count)
        settings.colour = layout.colour.rawValue
        withUnsafeMutableBytes(of: &settings.horizontal) { factors in
            for (index, sampling) in layout.sampling.enumerated() {
                factors.bindMemory(to: Int32.self)[index] = Int32(sampling.horizontal)
            }
        }
        withUnsafeMutableBytes(of: &settings.vertical) { factors in
            for (index, sampling) in layout.sampling.enumerated() {
                factors.bindMemory(to: Int32.self)[index] = Int32(sampling.vertical)
            }
        }
        settings.quality = Int32(coding.quality)
        settings.is_progressive = coding.isProgressive
        settings.is_optimised = coding.isOptimised
        settings.comes_in_rows = comesInRows
        settings.density_unit = Int32(density.unit)
        settings.density_across = Int32(density.across)
        settings.density_down = Int32(density.down)
        try check(minilab_jpeg_start_writing(shim, &settings))
        try write(markers)
    }

    /// Starts writing the coefficients of a photo, turned and cropped; see ``JPEGTransform``.
    init(
        _ file: Int32, transform: minilab_jpeg_transform, of source: JPEGReader,
        markers: [JPEGMarker], store: UnsafePointer<minilab_jpeg_store>?
    ) throws(JPEGError) {
        (shim, descriptor) = try Self.start(file)
        self.source = source
        var transform = transform
        let status = minilab_jpeg_start_transform(source.shim, shim, &transform, store)
        try source.check(minilab_jpeg_reader_report(source.shim).pointee.status)
        try check(status)
        try write(markers)
    }

    deinit {
        minilab_jpeg_writer_free(shim)
        close(descriptor)
    }

    /// Encodes the next row of MCUs.
    ///
    /// - Parameter planes: planes of this layout; their row `mcuRow` is read.
    public func writePlanes(_ planes: JPEGPlanes, mcuRow: Int = 0) throws(JPEGError) {
        let status = planes.withPointers(mcuRow: mcuRow) { starts, strides in
            starts.withMemoryRebound(
                to: UnsafePointer<UInt8>?.self, capacity: planes.planes.count
            ) {
                minilab_jpeg_write_planes(shim, $0, strides)
            }
        }
        try check(status)
    }

    /// Encodes the next row of RGB.
    public func writeRow(_ pixels: UnsafeRawPointer) throws(JPEGError) {
        try check(
            minilab_jpeg_write_row(shim, pixels.assumingMemoryBound(to: UInt8.self)))
    }

    /// Writes the rest of the file after the last row.
    public func finish() throws(JPEGError) { try check(minilab_jpeg_finish_writing(shim)) }

    private func write(_ markers: [JPEGMarker]) throws(JPEGError) {
        for marker in markers {
            precondition(marker.bytes.count <= JPEGMarker.bytesMax, "\(marker.bytes.count) bytes")
            try check(
                minilab_jpeg_write_marker(
                    shim, Int32(marker.code), marker.bytes, marker.bytes.count))
        }
    }

    private func check(_ status: Int32) throws(JPEGError) {
        guard status == 0 else { throw JPEGError(minilab_jpeg_writer_report(shim).pointee) }
    }

    private static func start(_ file: Int32, from offset: Int = 0) throws(JPEGError) -> (
        OpaquePointer, Int32
    ) {
        let descriptor = fcntl(file, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else {
            throw JPEGError(.notWritten(errno), String(cString: strerror(errno)))
        }
        // A device has no length.
        guard ftruncate(descriptor, off_t(offset)) == 0 || errno == EINVAL else {
            defer { close(descriptor) }
            throw JPEGError(.notWritten(errno), String(cString: strerror(errno)))
        }
        guard let shim = minilab_jpeg_writer_new(descriptor, off_t(offset)) else {
            close(descriptor)
            throw JPEGError(.outOfMemory, "no memory to write a JPEG")
        }
        return (shim, descriptor)
    }
}

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
        public let mcuHeight: Int

        public func row(_ row: Int, of mcuRow: Int) -> UnsafeMutablePointer<UInt8> {
            start + (mcuRow * mcuHeight + row) * stride
        }
    }

    public let layout: JPEGLayout
    /// The plane of each component.
    public let planes: [Plane]
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
