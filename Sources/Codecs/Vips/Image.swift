import CVips

/// A picture of libvips: a header, and pixels that are computed on request.
///
/// `@unchecked Sendable` is safe because a libvips image is immutable and may be read by any thread (libvips manual, "Using
/// threads"): no method changes it, except for the metadata setters, which work on a copy of the header.
public final class Image: @unchecked Sendable {
    /// The picture; this object owns one reference.
    let pointer: UnsafeMutablePointer<VipsImage>

    /// Adopts a reference.
    init(adopting pointer: UnsafeMutablePointer<VipsImage>) { self.pointer = pointer }

    deinit { g_object_unref(pointer) }

    /// The storage format of a sample.
    public enum SampleFormat: String, Sendable {
        /// 8 bits, unsigned.
        case uchar
        /// 16 bits, unsigned.
        case ushort
        /// 32-bit floating point.
        case float
        /// Any other format of libvips.
        case other

        var vips: VipsBandFormat {
            switch self {
            case .uchar: VIPS_FORMAT_UCHAR
            case .ushort: VIPS_FORMAT_USHORT
            case .float: VIPS_FORMAT_FLOAT
            case .other: VIPS_FORMAT_NOTSET
            }
        }

        init(_ format: VipsBandFormat) {
            switch format {
            case VIPS_FORMAT_UCHAR: self = .uchar
            case VIPS_FORMAT_USHORT: self = .ushort
            case VIPS_FORMAT_FLOAT: self = .float
            default: self = .other
            }
        }
    }

    /// Pixels from left to right.
    public var width: Int { Int(vips_image_get_width(pointer)) }
    /// Pixels from top to bottom.
    public var height: Int { Int(vips_image_get_height(pointer)) }
    /// Channels, alpha included.
    public var bands: Int { Int(vips_image_get_bands(pointer)) }
    /// The storage format of a sample.
    public var format: SampleFormat { SampleFormat(vips_image_get_format(pointer)) }
    /// Bytes of one pixel.
    public var bytesPerPixel: Int {
        Int(vips_format_sizeof(vips_image_get_format(pointer))) * bands
    }
    /// Bytes of all pixels.
    public var byteCount: Int { width * height * bytesPerPixel }
    /// Whether the last channel is alpha.
    public var hasAlpha: Bool { vips_image_hasalpha(pointer) != 0 }
    /// libvips' nickname of the samples' interpretation: `srgb`, `rgb16`, `b-w`, `grey16`, `cmyk` …
    public var interpretation: String {
        String(
            cString: vips_enum_nick(
                minilab_interpretation_type(),
                Int32(bitPattern: vips_image_get_interpretation(pointer).rawBits)))
    }

    /// Computes all pixels into memory.
    ///
    /// - Returns: rows without gaps, samples interleaved, in the machine's byte order.
    public func pixels() throws(VipsError) -> [UInt8] {
        var length = 0
        guard let memory = vips_image_write_to_memory(pointer, &length) else {
            throw VipsError.drainingBuffer(operation: "write_to_memory")
        }
        defer { g_free(memory) }
        return [UInt8](UnsafeRawBufferPointer(start: memory, count: length))
    }

    /// Creates a picture from bytes, which are copied.
    ///
    /// - Parameters:
    ///   - pixels: rows without gaps, samples interleaved.
    ///   - interpretation: libvips' nickname of the samples' interpretation.
    public static func fromPixels(
        _ pixels: [UInt8], width: Int, height: Int, bands: Int, format: SampleFormat = .uchar,
        interpretation: String = "srgb"
    ) throws(VipsError) -> Image {
        guard
            let pointer = pixels.withUnsafeBytes({ bytes in
                vips_image_new_from_memory_copy(
                    bytes.baseAddress, bytes.count, Int32(width), Int32(height), Int32(bands),
                    format.vips)
            })
        else {
            throw VipsError.drainingBuffer(
                operation: "new_from_memory",
                arguments: "\(pixels.count) bytes, \(width)×\(height)×\(bands)")
        }
        return try Operation.run(
            "copy",
            [
                ("in", .image(Image(adopting: pointer))),
                ("interpretation", .string(interpretation)),
            ])
    }
}

extension Image {
    /// Creates a picture over memory of another owner, without copying.
    ///
    /// - Parameters:
    ///   - pixels: rows without gaps, samples interleaved; valid and unchanged for the lifetime of `owner`.
    ///   - owner: retained by the image, and by everything computed from it.
    public static func over(
        _ pixels: UnsafeRawBufferPointer, of owner: some AnyObject & Sendable, width: Int,
        height: Int, bands: Int, format: SampleFormat, interpretation: String
    ) throws(VipsError) -> Image {
        guard
            let pointer = vips_image_new_from_memory(
                pixels.baseAddress, pixels.count, Int32(width), Int32(height), Int32(bands),
                format.vips)
        else {
            throw VipsError.drainingBuffer(
                operation: "new_from_memory",
                arguments: "\(pixels.count) bytes, \(width)×\(height)×\(bands)")
        }
        let image = Image(adopting: pointer)
        let kept = Unmanaged<AnyObject>.passRetained(owner)
        g_object_set_data_full(minilab_object(pointer), "minilab-owner", kept.toOpaque()) {
            guard let owner = $0 else { return }
            Unmanaged<AnyObject>.fromOpaque(owner).release()
        }
        return try Operation.run(
            "copy", [("in", .image(image)), ("interpretation", .string(interpretation))])
    }
}

extension VipsInterpretation {
    /// The enum's number in the type that libvips' nickname functions accept.
    var rawBits: UInt32 { UInt32(bitPattern: Int32(truncatingIfNeeded: rawValue)) }
}
