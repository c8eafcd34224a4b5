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

    /// Makes settings.
    public init(quality: Int, isProgressive: Bool = false, isOptimised: Bool = false) {
        self.quality = quality
        self.isProgressive = isProgressive
        self.isOptimised = isOptimised
    }
}

/// Writes one JPEG file from planes.
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
    ///   - markers: in the order in which they are written. libjpeg-turbo writes JFIF's APP0 and Adobe's APP14 itself, so they must
    ///     not be among them.
    /// - Throws: ``JPEGError``; `notWritten(ENOSPC)` for a full disk.
    public init(
        _ file: Int32, from offset: Int = 0, layout: JPEGLayout, coding: JPEGCoding,
        density: JPEGDensity = .unknown,
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
