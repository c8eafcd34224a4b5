import CVips
public import Edits
import Synchronization

/// A picture of libvips: a header, and pixels that are computed on request.
///
/// `@unchecked Sendable` is safe because a libvips image is immutable and may be read by any thread (libvips manual, "Using
/// threads"): no method changes it, except for the metadata setters, which work on a copy of the header.
public final class Image: @unchecked Sendable {
    /// The picture; this object owns one reference.
    let pointer: UnsafeMutablePointer<VipsImage>

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

    public var width: Int { Int(vips_image_get_width(pointer)) }
    public var height: Int { Int(vips_image_get_height(pointer)) }
    public var bands: Int { Int(vips_image_get_bands(pointer)) }
    public var format: SampleFormat { SampleFormat(vips_image_get_format(pointer)) }
    public var bytesPerPixel: Int {
        Int(vips_format_sizeof(vips_image_get_format(pointer))) * bands
    }
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
        let image = try fromMemory(
            pixels.withUnsafeBytes { bytes in
                vips_image_new_from_memory_copy(
                    bytes.baseAddress, bytes.count, Int32(width), Int32(height), Int32(bands),
                    format.vips)
            }, "\(pixels.count) bytes, \(width)×\(height)×\(bands)")
        return try image.interpreted(as: interpretation)
    }

    private static func fromMemory(
        _ pointer: UnsafeMutablePointer<VipsImage>?, _ arguments: String
    ) throws(VipsError) -> Image {
        guard let pointer else {
            throw VipsError.drainingBuffer(operation: "new_from_memory", arguments: arguments)
        }
        return Image(adopting: pointer)
    }

    private func interpreted(as interpretation: String) throws(VipsError) -> Image {
        try Operation.run(
            "copy", [("in", .image(self)), ("interpretation", .string(interpretation))])
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
        let image = try fromMemory(
            vips_image_new_from_memory(
                pixels.baseAddress, pixels.count, Int32(width), Int32(height), Int32(bands),
                format.vips), "\(pixels.count) bytes, \(width)×\(height)×\(bands)")
        let kept = Unmanaged<AnyObject>.passRetained(owner)
        g_object_set_data_full(minilab_object(image.pointer), "minilab-owner", kept.toOpaque()) {
            guard let owner = $0 else { return }
            Unmanaged<AnyObject>.fromOpaque(owner).release()
        }
        return try image.interpreted(as: interpretation)
    }
}

extension VipsInterpretation {
    /// The enum's number in the type that libvips' nickname functions accept.
    var rawBits: UInt32 { UInt32(bitPattern: Int32(truncatingIfNeeded: rawValue)) }
}

extension Image {
    /// Returns the same picture, read from top to bottom in small steps, whatever is requested first.
    ///
    /// libvips reads all rows above the first requested one into a cache at once: cropping the last rows of a streamed photo of a
    /// gigapixel would take 3 GB. This goes between a decoder and a part that begins further down.
    public func readInSteps() throws(VipsError) -> Image {
        try computingRows(
            RegionPicture(
                width: width, height: height, bands: bands, format: format,
                interpretation: interpretation),
            SteppedRows(rowBytes: width * bytesPerPixel, height: height))
    }
}

/// Unchanged rows, some at a time.
private final class SteppedRows: RowMaker {
    var reader: RowReader? {
        didSet { strip = nil }
    }
    private let rowBytes, height: Int
    private var strip: RegionPixels?
    private var y = 0

    private static let stripHeight = 16

    init(rowBytes: Int, height: Int) {
        self.rowBytes = rowBytes
        self.height = height
    }

    func makeRow(into row: UnsafeMutableRawPointer) -> Bool {
        if strip.map({ y >= $0.area.top + $0.area.height }) ?? true {
            strip = reader?.rows(from: y, count: min(Self.stripHeight, height - y))
        }
        guard let strip else { return false }
        row.copyMemory(from: strip.row(y - strip.area.top), byteCount: rowBytes)
        y += 1
        return true
    }
}

/// Reads rows of an image; valid for one call.
public struct RowReader {
    let region: UnsafeMutablePointer<VipsRegion>

    /// Returns some whole rows, or nil if they cannot be computed; libvips' error text has the reason.
    public func rows(from top: Int, count: Int) -> RegionPixels? {
        let width = Int(region.pointee.im.pointee.Xsize)
        return pixels(of: PixelArea(left: 0, top: top, width: width, height: count))
    }

    /// Returns any rectangle of an image that can be read in any order.
    public func pixels(of area: PixelArea) -> RegionPixels? {
        var wanted = VipsRect(
            left: Int32(area.left), top: Int32(area.top), width: Int32(area.width),
            height: Int32(area.height))
        guard vips_region_prepare(region, &wanted) == 0,
            let start = minilab_region_address(region, wanted.left, wanted.top)
        else { return nil }
        return RegionPixels(
            area: area, start: UnsafeMutableRawPointer(start),
            stride: minilab_region_stride(region))
    }
}

/// Computes the rows of a picture from those of another, from top to bottom.
///
/// It may keep state from row to row: one thread uses it at a time, and each row is computed once.
public protocol RowMaker: AnyObject {
    /// The reader of the other picture; nil while no row is being made. Read pixels are invalid then.
    var reader: RowReader? { get set }
    /// Computes the next row.
    ///
    /// - Returns: whether it succeeded; false if a row could not be read.
    func makeRow(into row: UnsafeMutableRawPointer) -> Bool
}

extension Image {
    /// Returns a picture whose rows `maker` computes from this one's, each once and in order, whatever shapes are requested.
    ///
    /// This image is also read from top to bottom. The last rows are kept, since libvips' threads request them in no strict order.
    ///
    /// - Parameter maker: must not be used elsewhere.
    public func computingRows(_ picture: RegionPicture, _ maker: sending any RowMaker)
        throws(VipsError) -> Image
    {
        let program = RowProgram(input: self) { reader, rows in
            maker.reader = reader
            defer { maker.reader = nil }
            return rows.allSatisfy(maker.makeRow)
        }
        return try computing(picture, Unmanaged.passRetained(program), generateRows)
    }

    /// Returns a picture whose rows come from another source, each once and in order, whatever shapes are requested.
    ///
    /// The number of kept rows is that of ``computingRows(_:_:)``.
    ///
    /// - Parameters:
    ///   - original: the source of the resolution and other metadata; not retained.
    ///   - makeRow: computes the next row, or returns an error. One thread calls it at a time.
    public static func suppliedRows(
        _ picture: RegionPicture, like original: Image? = nil,
        by makeRow: sending @escaping (UnsafeMutableRawPointer) -> String?
    ) throws(VipsError) -> Image {
        let program = RowProgram(input: nil) { _, rows in
            for row in rows {
                guard let problem = makeRow(row) else { continue }
                minilab_error(problem)
                return false
            }
            return true
        }
        let image = try generated(
            picture, Unmanaged.passRetained(program), like: original, generateSuppliedRows)
        // VIPS_META_SEQUENTIAL: where libvips shrinks, it keeps rows instead of requesting them again.
        vips_image_set_int(image.pointer, "vips-sequential", 1)
        return image
    }
}

/// `@unchecked Sendable` is safe because the lock guards all mutable state.
private final class RowProgram: @unchecked Sendable {
    /// Retained for the lifetime of the picture.
    private let input: Image?
    /// Computes the next rows, and returns whether it succeeded.
    private let make: (RowReader?, Rows) -> Bool
    private let lock = Mutex(())
    private var made = 0
    private var rows: UnsafeMutableRawBufferPointer?
    private var kept = 0

    typealias Rows = LazyMapSequence<Range<Int>, UnsafeMutableRawPointer>

    init(input: Image?, make: sending @escaping (RowReader?, Rows) -> Bool) {
        self.input = input
        self.make = make
    }

    deinit { rows?.deallocate() }

    func fill(_ output: UnsafeMutablePointer<VipsRegion>, _ reader: RowReader?) -> Bool {
        lock.withLock { _ in
            let area = PixelArea(output.pointee.valid)
            let pixel = minilab_region_pixel(output)
            let rowBytes = Int(output.pointee.im.pointee.Xsize) * pixel
            keep(
                Self.keptRows(output.pointee.im, area.height), of: rowBytes,
                height: Int(output.pointee.im.pointee.Ysize))
            guard let rows = rows?.baseAddress, area.top >= made - kept else {
                minilab_error("row \(area.top) is asked for too late: \(made) are made")
                return false
            }
            let end = area.top + area.height
            if made < end {
                let wanted = (made..<end).lazy.map { [kept] in rows + ($0 % kept) * rowBytes }
                guard make(reader, wanted) else { return false }
                made = end
            }
            for y in area.top..<area.top + area.height {
                guard
                    let target = minilab_region_address(output, Int32(area.left), Int32(y))
                else { return false }
                UnsafeMutableRawPointer(target).copyMemory(
                    from: rows + (y % kept) * rowBytes + area.left * pixel,
                    byteCount: area.width * pixel)
            }
            return true
        }
    }

    /// Returns the number of rows that may still be requested. libvips fills two buffers at a time, of a number of lines that it
    /// reports; one thread may begin at the first line of one while another is at the last line of the other.
    ///
    /// - Parameter height: the height of a request.
    private static func keptRows(_ image: UnsafeMutablePointer<VipsImage>, _ height: Int) -> Int {
        guard VipsLibrary.threads > 1 else { return 4 * height }
        var (tileWidth, tileHeight, lines) = (Int32(0), Int32(0), Int32(0))
        vips_get_tile_size(image, &tileWidth, &tileHeight, &lines)
        return 2 * (Int(lines) + height)
    }

    /// Enlarges the memory to this number of rows and keeps their contents.
    private func keep(_ wanted: Int, of rowBytes: Int, height: Int) {
        let wanted = min(wanted, height)
        guard wanted > kept else { return }
        let room = UnsafeMutableRawBufferPointer.allocate(
            byteCount: wanted * rowBytes, alignment: 16)
        if let rows {
            for y in max(0, made - kept)..<made {
                let bytes = rows[(y % kept) * rowBytes..<(y % kept + 1) * rowBytes]
                UnsafeMutableRawBufferPointer(
                    rebasing: room[(y % wanted) * rowBytes..<(y % wanted + 1) * rowBytes]
                ).copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
            }
            rows.deallocate()
        }
        (rows, kept) = (room, wanted)
    }
}

// At file scope of a library, because libvips calls it on its own threads.
private let generateRows: VipsGenerateFn = { out, sequence, _, client, _ in
    guard let out, let sequence, let client else { return -1 }
    let program = Unmanaged<RowProgram>.fromOpaque(client).takeUnretainedValue()
    let reader = RowReader(region: sequence.assumingMemoryBound(to: VipsRegion.self))
    return program.fill(out, reader) ? 0 : -1
}

private let generateSuppliedRows: VipsGenerateFn = { out, _, _, client, _ in
    guard let out, let client else { return -1 }
    let program = Unmanaged<RowProgram>.fromOpaque(client).takeUnretainedValue()
    return program.fill(out, nil) ? 0 : -1
}
