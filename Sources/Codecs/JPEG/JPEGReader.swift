import CCodecs
import Glibc

/// Reads one JPEG from top to bottom: first its header, then planes, rows or coefficients.
///
/// The file is read 256 KB at a time, which suffices for libjpeg-turbo's fast path, unlike libvips' 4 KB. Unlike mapped memory, a
/// file that shrinks meanwhile causes an error and no signal. It needs memory for a few rows, except if
/// ``JPEGHeader/hasSeveralScans``. One thread uses it at a time.
public final class JPEGReader {
    public let header: JPEGHeader
    let shim: OpaquePointer
    private let descriptor: Int32

    /// Reads the header of a JPEG in an open file.
    ///
    /// - Parameters:
    ///   - file: a descriptor; the reader keeps a duplicate, and does not change its offset.
    ///   - offset: the offset of the JPEG in the file.
    /// - Throws: ``JPEGError``; `damaged` also if the bytes are no JPEG at all.
    public init(
        _ file: Int32, from offset: Int = 0, limits: JPEGLimits = JPEGLimits()
    ) throws(JPEGError) {
        let descriptor = fcntl(file, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else {
            throw JPEGError(.notRead(errno), String(cString: strerror(errno)))
        }
        guard let shim = minilab_jpeg_reader_new(descriptor, off_t(offset), limits.shim) else {
            close(descriptor)
            throw JPEGError(.outOfMemory, "no memory to read a JPEG")
        }
        var header = minilab_jpeg_header()
        guard minilab_jpeg_read_header(shim, &header) == 0 else {
            let error = JPEGError(minilab_jpeg_reader_report(shim).pointee)
            minilab_jpeg_reader_free(shim)
            close(descriptor)
            throw error
        }
        self.header = JPEGHeader(header, markers: Self.markers(shim))
        self.shim = shim
        self.descriptor = descriptor
    }

    deinit {
        minilab_jpeg_reader_free(shim)
        close(descriptor)
    }

    /// The number of warnings without lost pixels, such as extra bytes between segments, and the text of the first.
    public var warnings: (count: Int, first: String) {
        let report = minilab_jpeg_reader_report(shim).pointee
        return (Int(report.warnings), JPEGError.text(report.warning))
    }

    /// Whether the file turned out to end without its end marker (EOI), while all of its pixels are there; known after
    /// ``finish()``.
    public var hasNoEnd: Bool { minilab_jpeg_reader_report(shim).pointee.has_no_end }

    /// Starts decoding into planes. Then call ``readPlanes(into:mcuRow:)`` for each row of MCUs.
    public func startPlanes() throws(JPEGError) { try check(minilab_jpeg_start_planes(shim)) }

    /// Decodes the next row of MCUs.
    ///
    /// - Parameter planes: planes of this photo's layout; their row `mcuRow` is overwritten.
    public func readPlanes(into planes: JPEGPlanes, mcuRow: Int = 0) throws(JPEGError) {
        try check(
            planes.withPointers(mcuRow: mcuRow) { minilab_jpeg_read_planes(shim, $0, $1) })
    }

    /// Starts decoding rows of the full size: grey, RGB, or CMYK as stored. Then call ``readRow(into:)`` for each row.
    ///
    /// - Returns: the number of channels.
    public func startRows() throws(JPEGError) -> Int {
        var (width, height, bands) = (Int32(0), Int32(0), Int32(0))
        try check(minilab_jpeg_start_rows(shim, 8, &width, &height, &bands))
        return Int(bands)
    }

    public func readRow(into row: UnsafeMutablePointer<UInt8>) throws(JPEGError) {
        try check(minilab_jpeg_read_rows(shim, row, 0, 1))
    }

    /// Decodes all rows at eighths of the size: 1 is the fastest, 8 the full size.
    ///
    /// - Parameters:
    ///   - eighths: 1 to 8. Width and height are rounded up.
    ///   - target: receives width, height and channels (grey, RGB, or CMYK as stored), and returns memory for all rows without
    ///     gaps.
    public func readRows(
        eighths: Int,
        into target: (_ width: Int, _ height: Int, _ bands: Int) -> UnsafeMutablePointer<UInt8>
    ) throws(JPEGError) {
        precondition((1...8).contains(eighths), "\(eighths)/8 of a photo")
        var (width, height, bands) = (Int32(0), Int32(0), Int32(0))
        try check(minilab_jpeg_start_rows(shim, Int32(eighths), &width, &height, &bands))
        let start = target(Int(width), Int(height), Int(bands))
        try check(minilab_jpeg_read_rows(shim, start, Int(width * bands), height))
        try finish()
    }

    /// Reads to the end of the picture, after the last row, to verify that it is complete.
    public func finish() throws(JPEGError) { try check(minilab_jpeg_finish_reading(shim)) }

    func check(_ status: Int32) throws(JPEGError) {
        guard status == 0 else { throw JPEGError(minilab_jpeg_reader_report(shim).pointee) }
    }

    private static func markers(_ shim: OpaquePointer) -> [JPEGMarker] {
        var markers: [JPEGMarker] = []
        var code = Int32(0)
        var bytes: UnsafePointer<UInt8>?
        var length = 0
        while minilab_jpeg_marker(shim, Int32(markers.count), &code, &bytes, &length) {
            markers.append(
                JPEGMarker(
                    code: UInt8(truncatingIfNeeded: code),
                    bytes: Array(UnsafeBufferPointer(start: bytes, count: length))))
        }
        return markers
    }
}

/// libjpeg-turbo.
public enum JPEGLibrary {
    /// The version with which this code is compiled, such as `2.1.5`.
    public static var version: String { String(cString: minilab_jpeg_version()) }
}

/// The limits for an untrusted JPEG.
public struct JPEGLimits: Sendable {
    /// Most scans of a progressive photo. Each needs a pass over all coefficients, and 64 KB can hold thousands; libjpeg-turbo's
    /// own tools allow 500 (`TJFLAG_LIMITSCANS`).
    public var scansMax: Int
    /// Most bytes of all APPn and COM segments. An ICC profile of 255 segments, the maximum, has 16 MB.
    public var markerBytesMax: Int
    /// Most bytes of coefficients in memory, 2 per sample: for a transform, and for photos of several scans, such as progressive
    /// ones. All others stream.
    public var coefficientBytesMax: Int

    /// Makes limits.
    public init(
        scansMax: Int = 500, markerBytesMax: Int = 32 << 20, coefficientBytesMax: Int = 1 << 30
    ) {
        self.scansMax = scansMax
        self.markerBytesMax = markerBytesMax
        self.coefficientBytesMax = coefficientBytesMax
    }

    var shim: minilab_jpeg_limits {
        minilab_jpeg_limits(
            scans: Int32(clamping: scansMax), marker_bytes: max(0, markerBytesMax),
            coefficient_bytes: max(0, coefficientBytesMax))
    }
}

/// The reason why a JPEG could not be read or written.
public struct JPEGError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of reasons that callers handle differently.
    public enum Kind: Sendable, Equatable {
        /// Not a complete JPEG: damaged or truncated. This includes libjpeg-turbo's warnings about lost pixels.
        case damaged
        /// An unsupported kind of JPEG, such as 12 bits per sample.
        case unsupported
        /// More scans, metadata or coefficients than ``JPEGLimits`` allow.
        case overLimit
        /// The library could not allocate memory.
        case outOfMemory
        case notRead(Int32)
        /// Opening or writing failed, with this errno, `ENOSPC` for a full disk.
        case notWritten(Int32)
        case notStored
        case misused
    }

    public let kind: Kind
    /// The message of libjpeg-turbo or of the kernel.
    public let text: String

    init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    init(_ report: minilab_jpeg_report) {
        kind =
            switch minilab_jpeg_status(UInt32(report.status)) {
            case MINILAB_JPEG_DAMAGED: .damaged
            case MINILAB_JPEG_UNSUPPORTED: .unsupported
            case MINILAB_JPEG_OVER_LIMIT: .overLimit
            case MINILAB_JPEG_OUT_OF_MEMORY: .outOfMemory
            case MINILAB_JPEG_READ_FAILED: .notRead(report.system_error)
            case MINILAB_JPEG_WRITE_FAILED: .notWritten(report.system_error)
            case MINILAB_JPEG_STORE_FAILED: .notStored
            default: .misused
            }
        let message = Self.text(report.message)
        text =
            switch kind {
            case .notRead(let number), .notWritten(let number):
                message + ": " + String(cString: strerror(number))
            default: message
            }
    }

    static func text<Characters>(_ array: Characters) -> String {
        withUnsafeBytes(of: array) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    public var description: String { text }
}
