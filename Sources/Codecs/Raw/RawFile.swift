import CCodecs
import Glibc

/// A camera's RAW file, opened by LibRaw: first its header, then its developed picture.
///
/// Development is the same for every file: the white balance that the camera measured, LibRaw's default demosaicing (AHD) at full
/// size, no brightening, sRGB primaries, the curve of sRGB, 16 bits, turned upright.
///
/// Not thread-safe.
public final class RawFile {
    private let data: UnsafeMutablePointer<libraw_data_t>
    private let bytes: UnsafeMutableRawPointer
    private let length: Int
    /// The bytes as LibRaw reads them.
    private let file: OpaquePointer
    /// The number of positions with invalid data; LibRaw continues after them.
    private let errors = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    /// Most memory for the unpacked sensor data, in MiB. Beyond it, LibRaw fails before it allocates any. 1 GiB is the sensor of
    /// 512 megapixels.
    private static let memoryMax: UInt32 = 1_024

    /// Reads the header of an open file, but no pixels.
    ///
    /// LibRaw receives the file as mapped memory.
    ///
    /// - Parameter file: a descriptor; it may be closed afterwards.
    public init(_ file: Int32) throws(RawError) {
        errors.initialize(to: 0)
        var status = stat()
        guard fstat(file, &status) == 0,
            let bytes = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, file, 0),
            bytes != MAP_FAILED
        else {
            errors.deallocate()
            throw RawError(kind: .io, step: "open", text: String(cString: strerror(errno)))
        }
        guard let data = libraw_init(0) else {
            munmap(bytes, Int(status.st_size))
            errors.deallocate()
            throw RawError(kind: .memory, step: "start", text: "out of memory")
        }
        guard let reader = minilab_raw_file_make(bytes, Int(status.st_size)) else {
            libraw_close(data)
            munmap(bytes, Int(status.st_size))
            errors.deallocate()
            throw RawError(kind: .memory, step: "start", text: "out of memory")
        }
        self.data = data
        self.file = reader
        (self.bytes, length) = (bytes, Int(status.st_size))
        libraw_set_dataerror_handler(
            data, { errors, _, _ in errors?.assumingMemoryBound(to: Int32.self).pointee += 1 },
            errors)
        minilab_raw_allow_memory(data, Self.memoryMax)
        data.pointee.params.use_camera_wb = 1
        data.pointee.params.no_auto_bright = 1
        // Otherwise the brightest sample is taken for white if it is above this share of it, and exposure differs within a series.
        data.pointee.params.adjust_maximum_thr = 0
        data.pointee.params.output_color = 1
        data.pointee.params.output_bps = 16
        // IEC 61966-2-1: power and slope in the shadows.
        data.pointee.params.gamm.0 = 1 / 2.4
        data.pointee.params.gamm.1 = 12.92
        try check(minilab_raw_open(data, reader), "open")
        try check(libraw_adjust_sizes_info_only(data), "read the sizes")
    }

    deinit {
        libraw_close(data)
        minilab_raw_file_free(file)
        munmap(bytes, length)
        errors.deallocate()
    }

    public var width: Int { Int(data.pointee.sizes.iwidth) }
    public var height: Int { Int(data.pointee.sizes.iheight) }

    public var camera: String {
        let parameters = data.pointee.idata
        return Self.text(parameters.make) + " " + Self.text(parameters.model)
    }

    /// Unpacks and develops; takes about 14 bytes of memory per pixel.
    ///
    /// - Throws: `damaged` for a file that is cut off, whatever its maker. LibRaw's loaders take what is missing for 0 or for what
    ///   they read before, and only some of them report it.
    public func develop() throws(RawError) -> RawPicture {
        try unpack(fill: 0)
        let lack = minilab_raw_file_lack(file)
        guard errors.pointee == 0, !lack.has_absent_place, lack.single_bytes <= Self.bytesAhead
        else {
            throw RawError(
                kind: .damaged, step: "unpack",
                text: "\(errors.pointee) bad places, \(lack.single_bytes) missing bytes")
        }
        if lack.has_short_block {
            // Loaders of fixed blocks ask for more than the file has, and use what it has. If they used more, another filling results
            // in other samples.
            let sum = samplesHash
            try unpack(fill: 0xA5)
            guard samplesHash == sum else {
                throw RawError(kind: .damaged, step: "unpack", text: "the file ends too early")
            }
        }
        // LibRaw leaves tiles beyond the end of the file empty, without an error.
        guard samples.isEmpty || samples.contains(where: { $0 != 0 }) else {
            throw RawError(kind: .damaged, step: "unpack", text: "all of the sensor's data is 0")
        }
        try check(libraw_dcraw_process(data), "develop")
        var status: Int32 = 0
        guard let image = libraw_dcraw_make_mem_image(data, &status) else {
            try check(status, "copy out")
            throw RawError(kind: .memory, step: "copy out", text: "no picture")
        }
        let picture = RawPicture(image)
        guard picture.isRGB16 else {
            throw RawError(
                kind: .unsupported, step: "copy out",
                text: "\(image.pointee.colors) colours of \(image.pointee.bits) bits")
        }
        return picture
    }

    /// Most bytes behind the end that a decoder of variable-length codes looks at without needing them: LibRaw's look at up to 25
    /// bits, at each of a few pieces of the last row.
    private static let bytesAhead = 64

    /// Unpacks the sensor's samples.
    ///
    /// - Parameter fill: the value of bytes that a block lacks.
    private func unpack(fill: UInt8) throws(RawError) {
        // After its sizes were requested, or its samples, LibRaw needs the file to be opened again.
        libraw_recycle(data)
        try check(minilab_raw_open(data, file), "open")
        errors.pointee = 0
        minilab_raw_file_watch(file, fill)
        try check(libraw_unpack(data), "unpack")
    }

    /// The sensor's samples; empty for a file that contains a picture instead. A real sensor always has noise.
    private var samples: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: data.pointee.rawdata.raw_alloc,
            count: data.pointee.rawdata.raw_alloc == nil
                ? 0 : Int(data.pointee.sizes.raw_height) * Int(data.pointee.sizes.raw_pitch))
    }

    private var samplesHash: Int {
        var hasher = Hasher()
        hasher.combine(bytes: samples)
        return hasher.finalize()
    }

    private func check(_ status: Int32, _ step: String) throws(RawError) {
        guard status != LIBRAW_SUCCESS.rawValue else { return }
        let kind: RawError.Kind =
            switch status {
            case LIBRAW_FILE_UNSUPPORTED.rawValue, LIBRAW_NOT_IMPLEMENTED.rawValue,
                LIBRAW_REQUEST_FOR_NONEXISTENT_IMAGE.rawValue:
                .unsupported
            case LIBRAW_UNSUFFICIENT_MEMORY.rawValue, LIBRAW_TOO_BIG.rawValue,
                LIBRAW_MEMPOOL_OVERFLOW.rawValue:
                .memory
            default: status > 0 ? .io : .damaged
            }
        let text = libraw_strerror(status).map { String(cString: $0) } ?? "error \(status)"
        throw RawError(kind: kind, step: step, text: text)
    }

    private static func text<Tuple>(_ characters: Tuple) -> String {
        withUnsafeBytes(of: characters) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// A developed picture: rows without gaps, red, green and blue of 16 bits in the machine's byte order.
///
/// `@unchecked Sendable` is safe because the memory is never written, and `deinit` runs after the last owner is gone.
public final class RawPicture: @unchecked Sendable {
    private let image: UnsafeMutablePointer<libraw_processed_image_t>

    fileprivate init(_ image: UnsafeMutablePointer<libraw_processed_image_t>) {
        self.image = image
    }

    deinit { libraw_dcraw_clear_mem(image) }

    fileprivate var isRGB16: Bool {
        image.pointee.type == LIBRAW_IMAGE_BITMAP && image.pointee.colors == 3
            && image.pointee.bits == 16 && Int(image.pointee.data_size) == width * height * 6
    }

    public var width: Int { Int(image.pointee.width) }
    public var height: Int { Int(image.pointee.height) }
    /// The samples; valid for the lifetime of this object.
    public var pixels: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: minilab_raw_pixels(image), count: Int(image.pointee.data_size))
    }
}

/// An error of LibRaw.
public struct RawError: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Kind: Sendable {
        /// The camera or its packing is not supported.
        case unsupported
        /// The bytes contradict the header.
        case damaged
        case memory
        /// The file could not be read.
        case io
    }

    public let kind: Kind
    public let step: String
    public let text: String

    public var description: String { "LibRaw, \(step): \(text)" }
}
