import CRaw
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
    /// The number of positions with invalid data; LibRaw continues after them.
    private let errors = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    /// Most memory for the unpacked sensor data, in MiB. Beyond it, LibRaw fails before it allocates any. 1 GiB is the sensor of
    /// 512 megapixels.
    private static let memoryMax: UInt32 = 1_024

    /// Reads the header of an open file, but no pixels.
    ///
    /// LibRaw receives the file as mapped memory, because its C interface otherwise only opens paths.
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
        self.data = data
        (self.bytes, length) = (bytes, Int(status.st_size))
        libraw_set_dataerror_handler(
            data, { errors, _, _ in errors?.assumingMemoryBound(to: Int32.self).pointee += 1 },
            errors)
        minilab_raw_allow_memory(data, Self.memoryMax)
        data.pointee.params.use_camera_wb = 1
        data.pointee.params.no_auto_bright = 1
        data.pointee.params.output_color = 1
        data.pointee.params.output_bps = 16
        // IEC 61966-2-1: power and slope in the shadows.
        data.pointee.params.gamm.0 = 1 / 2.4
        data.pointee.params.gamm.1 = 12.92
        try check(libraw_open_buffer(data, bytes, length), "open")
        try check(libraw_adjust_sizes_info_only(data), "read the sizes")
    }

    deinit {
        libraw_close(data)
        munmap(bytes, length)
        errors.deallocate()
    }

    /// Columns of the developed picture.
    public var width: Int { Int(data.pointee.sizes.iwidth) }
    /// Rows of the developed picture.
    public var height: Int { Int(data.pointee.sizes.iheight) }

    /// Camera maker and model.
    public var camera: String {
        let parameters = data.pointee.idata
        return Self.text(parameters.make) + " " + Self.text(parameters.model)
    }

    /// Unpacks and develops; takes about 14 bytes of memory per pixel.
    public func develop() throws(RawError) -> RawPicture {
        // After its sizes were requested, LibRaw needs the file to be opened again before it unpacks.
        libraw_recycle(data)
        try check(libraw_open_buffer(data, bytes, length), "open")
        try check(libraw_unpack(data), "unpack")
        guard errors.pointee == 0 else {
            throw RawError(kind: .damaged, step: "unpack", text: "\(errors.pointee) bad places")
        }
        // LibRaw leaves tiles beyond the end of the file empty, without an error.
        guard hasLight else {
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

    /// Whether any sample of the sensor is not 0. A real sensor always has noise.
    private var hasLight: Bool {
        let raw = data.pointee.rawdata
        let (rows, rowBytes) = (
            Int(data.pointee.sizes.raw_height), Int(data.pointee.sizes.raw_pitch)
        )
        guard let samples = raw.raw_alloc else { return true }
        return UnsafeRawBufferPointer(start: samples, count: rows * rowBytes).contains { $0 != 0 }
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

    /// Columns.
    public var width: Int { Int(image.pointee.width) }
    /// Rows.
    public var height: Int { Int(image.pointee.height) }
    /// The samples; valid for the lifetime of this object.
    public var pixels: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: minilab_raw_pixels(image), count: Int(image.pointee.data_size))
    }
}
