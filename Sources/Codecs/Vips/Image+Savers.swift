import CVips
public import Edits

// Each saver but JPEG XL's writes all metadata that its format supports. Quality is 1 to 100.
extension Image {
    /// The chroma sampling.
    public enum ChromaSubsampling: String, Sendable {
        /// libvips' default: 4:2:0 below quality 90, otherwise 4:4:4.
        case auto
        /// 4:2:0.
        case on
        /// 4:4:4.
        case off
    }

    private func save(
        _ saver: String, to file: Int32, _ more: [(String, Operation.Value)],
        ifKnown: [(String, Operation.Value)] = []
    ) throws(VipsError) {
        try Operation.perform(
            saver + "_target",
            [("in", .image(self)), ("target", .file(try .target(file)))] + more,
            ifKnown: ifKnown)
    }

    /// Writes a JPEG; progressive ones need all coefficients in memory.
    public func writeJPEG(
        to file: Int32, quality: Int, chroma: ChromaSubsampling, progressive: Bool = false
    ) throws(VipsError) {
        try save(
            "jpegsave", to: file,
            [
                ("Q", .int(quality)), ("subsample_mode", .string(chroma.rawValue)),
                ("interlace", .bool(progressive)),
            ])
    }

    /// The filter, differences to the row above or libpng's choice among all filters for each row (PNG third edition §9.2), and
    /// zlib's level: `VIPS_FOREIGN_PNG_FILTER_UP`, `_ALL`.
    private static let png = (fast: (filter: 0x20, level: 1), small: (filter: 0xF8, level: 6))

    /// Writes a PNG with the samples' 8 or 16 bits. Progressive ones need all pixels in memory.
    ///
    /// Measured on photos of 6 MP: differences at level 1 take half the time of libvips' defaults (no filter, and level 6), and the
    /// files are a quarter smaller.
    ///
    /// libvips 8.14 writes EXIF if the image has some. Later versions make some up for an image without, unless they are told not to.
    public func writePNG(
        to file: Int32, progressive: Bool = false, isSmall: Bool = false
    ) throws(VipsError) {
        let settings = isSmall ? Self.png.small : Self.png.fast
        try save(
            "pngsave", to: file,
            [
                ("interlace", .bool(progressive)), ("compression", .int(settings.level)),
                ("filter", .int(settings.filter)),
            ],
            ifKnown: data("exif-data") == nil ? [("keep", .int(Self.allButEXIF))] : [])
    }

    /// libwebp's effort. At the SSIM of a JPEG of quality 90, ten photos of 1 MP: 2 takes 0.38 s and 4, libvips' default, 0.74 s,
    /// with files a quarter smaller; JPEG's are 27 % larger.
    private static let webPEffort = 2

    /// Writes a lossy WebP; needs all pixels in memory.
    public func writeWebP(to file: Int32, quality: Int) throws(VipsError) {
        try save(
            "webpsave", to: file, [("Q", .int(quality)), ("effort", .int(Self.webPEffort))])
    }

    /// libaom's effort: speed 9. At the SSIM of a JPEG of quality 90, ten photos of 1 MP: 0.45 s, and 2.9 s for 3, with files a
    /// third smaller; JPEG's are 30 % larger.
    private static let av1Effort = 0

    /// Writes an AVIF; needs all pixels in memory.
    ///
    /// - Parameter bits: bits of a sample; more than 8 are the upper ones of 16.
    public func writeAVIF(
        to file: Int32, quality: Int, bits: Int, chroma: ChromaSubsampling
    ) throws(VipsError) {
        try save(
            "heifsave", to: file,
            [
                ("Q", .int(quality)), ("bitdepth", .int(bits)),
                ("compression", .string("av1")),
                ("subsample_mode", .string(chroma.rawValue)), ("effort", .int(Self.av1Effort)),
            ])
    }

    /// libjxl's effort. At the SSIM of a JPEG of quality 90, ten photos of 1 MP: 3 takes 0.41 s, 5 takes 1.1 s and 7, libvips'
    /// default, 2.2 s, with files a fifth smaller; JPEG's are 40 % larger.
    private static let jxlEffort = 3

    /// `VIPS_FOREIGN_KEEP_ICC`, which the headers of libvips 8.14 lack; and `_XMP`, `_IPTC`, `_ICC` and `_OTHER`.
    private static let profileAlone = 8
    private static let allButEXIF = 2 | 4 | 8 | 16

    /// Writes a bare codestream of lossy JPEG XL with the samples' 8 or 16 bits, and the profile as its only metadata; needs all
    /// pixels in memory.
    ///
    /// libvips 8.14 writes no other metadata. Later versions do, into a container, unless they are told not to.
    public func writeJXL(to file: Int32, quality: Int) throws(VipsError) {
        try save(
            "jxlsave", to: file, [("Q", .int(quality)), ("effort", .int(Self.jxlEffort))],
            ifKnown: [("keep", .int(Self.profileAlone))])
    }

    /// Returns an integer field of the header, or nil.
    public func int(_ name: String) -> Int? {
        guard vips_image_get_typeof(pointer, name) != 0 else { return nil }
        var number: Int32 = 0
        guard vips_image_get_int(pointer, name, &number) == 0 else {
            VipsLibrary.clearErrors()  // A field of another type counts as missing.
            return nil
        }
        return Int(number)
    }

    /// Returns a text field of the header, or nil.
    public func string(_ name: String) -> String? {
        guard vips_image_get_typeof(pointer, name) != 0 else { return nil }
        var text: UnsafePointer<CChar>?
        guard vips_image_get_string(pointer, name, &text) == 0, let text else {
            VipsLibrary.clearErrors()  // As above.
            return nil
        }
        return String(cString: text)
    }

    /// Pixels per millimetre, horizontally and vertically.
    public var resolution: (x: Double, y: Double) {
        (vips_image_get_xres(pointer), vips_image_get_yres(pointer))
    }

    /// Returns a binary field of the header, such as `icc-profile-data` or `exif-data`, or nil.
    public func data(_ name: String) -> [UInt8]? {
        guard vips_image_get_typeof(pointer, name) != 0 else { return nil }
        var bytes: UnsafeRawPointer?
        var length = 0
        guard vips_image_get_blob(pointer, name, &bytes, &length) == 0, let bytes else {
            VipsLibrary.clearErrors()  // As above.
            return nil
        }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// A change of the header.
    public enum MetadataChange: Sendable {
        case setInt(String, Int)
        case setString(String, String)
        case setData(String, [UInt8])
        /// Removes a field, if it exists.
        case remove(String)
    }

    /// Returns the same pixels with another number of pixels per millimetre.
    public func changing(resolution: (x: Double, y: Double)) throws(VipsError) -> Image {
        try Operation.run(
            "copy",
            [
                ("in", .image(self)), ("xres", .double(resolution.x)),
                ("yres", .double(resolution.y)),
            ])
    }

    /// Returns the same pixels with another header. This image is unchanged.
    public func changing(_ changes: [MetadataChange]) throws(VipsError) -> Image {
        let copy = try Operation.run("copy", [("in", .image(self))])
        for change in changes {
            switch change {
            case .setInt(let name, let value):
                vips_image_set_int(copy.pointer, name, Int32(value))
            case .setString(let name, let value):
                vips_image_set_string(copy.pointer, name, value)
            case .setData(let name, let value):
                value.withUnsafeBytes {
                    vips_image_set_blob_copy(copy.pointer, name, $0.baseAddress, $0.count)
                }
            case .remove(let name):
                vips_image_remove(copy.pointer, name)
            }
        }
        return copy
    }

    public var fieldNames: [String] {
        guard let names = vips_image_get_fields(pointer) else { return [] }
        defer { g_strfreev(names) }
        var result: [String] = []
        var index = 0
        while let name = names[index] {
            result.append(String(cString: name))
            index += 1
        }
        return result
    }
}

/// Output of rows from libvips, and input of pixels from other sources.
extension Image {
    /// Computes all pixels at once and passes them on as whole rows, from top to bottom, each once.
    ///
    /// - Parameter receive: receives some rows and returns whether to continue. One thread calls it at a time, not the caller's. It
    ///   may block: the next rows are computed meanwhile.
    public func stream(into receive: (RegionPixels) -> Bool) throws(VipsError) {
        let status = withoutActuallyEscaping(receive) { receive in
            let receiver = RowReceiver(receive: receive)
            // The sink does not use the receiver after it returns.
            return withExtendedLifetime(receiver) {
                vips_sink_disc(
                    pointer, receiveRows, Unmanaged.passUnretained(receiver).toOpaque())
            }
        }
        guard status == 0 else { throw VipsError.drainingBuffer(operation: "stream") }
    }

    /// Returns a picture whose pixels `fill` provides, rectangle by rectangle, on demand.
    ///
    /// - Parameters:
    ///   - original: the source of the resolution and other metadata; not retained.
    ///   - fill: fills a rectangle, or returns an error. Several threads of libvips call it at once. It may block.
    public static func supplied(
        _ picture: RegionPicture, like original: Image,
        by fill: @escaping @Sendable (RegionPixels) -> String?
    ) throws(VipsError) -> Image {
        let supplier = Unmanaged.passRetained(RegionSupplier(fill: fill))
        return try generated(picture, supplier, like: original, supplyRegion)
    }

    /// Returns a picture whose regions are computed by `generate`, without an input.
    ///
    /// - Parameters:
    ///   - program: passed to `generate` as its client; released with the picture.
    ///   - original: the source of the resolution and other metadata.
    static func generated<Program: AnyObject>(
        _ picture: RegionPicture, _ program: Unmanaged<Program>, like original: Image? = nil,
        _ generate: VipsGenerateFn
    ) throws(VipsError) -> Image {
        guard let out = vips_image_new() else {
            program.release()
            throw VipsError.drainingBuffer(operation: "supply")
        }
        let image = Image(adopting: out)
        // Freed with the picture, after the last region.
        g_object_set_data_full(minilab_object(out), "minilab-program", program.toOpaque()) {
            guard let program = $0 else { return }
            Unmanaged<AnyObject>.fromOpaque(program).release()
        }
        guard minilab_pipeline(out, picture.shape.hint, nil) == 0 else {
            throw VipsError.drainingBuffer(operation: "supply")
        }
        try picture.describe(out)
        if let original {
            out.pointee.Xres = original.pointer.pointee.Xres
            out.pointee.Yres = original.pointer.pointee.Yres
            vips_image_map(original.pointer, copyField, out)
        }
        guard vips_image_generate(out, nil, generate, nil, nil, program.toOpaque()) == 0 else {
            throw VipsError.drainingBuffer(operation: "supply")
        }
        return image
    }
}

private final class RowReceiver {
    let receive: (RegionPixels) -> Bool

    init(receive: @escaping (RegionPixels) -> Bool) { self.receive = receive }
}

private final class RegionSupplier: Sendable {
    let fill: @Sendable (RegionPixels) -> String?

    init(fill: @escaping @Sendable (RegionPixels) -> String?) { self.fill = fill }
}

// At file scope of a library, because libvips calls them on its own threads.
private let receiveRows: VipsRegionWrite = { region, area, client in
    guard let region, let area = area?.pointee, let client,
        let start = minilab_region_address(region, area.left, area.top)
    else { return -1 }
    let receiver = Unmanaged<RowReceiver>.fromOpaque(client).takeUnretainedValue()
    let rows = RegionPixels(
        area: PixelArea(area), start: UnsafeMutableRawPointer(start),
        stride: minilab_region_stride(region))
    guard receiver.receive(rows) else {
        minilab_error("the reader of the rows gave up")
        return -1
    }
    return 0
}

private let supplyRegion: VipsGenerateFn = { out, _, _, client, _ in
    guard let out, let client else { return -1 }
    let valid = out.pointee.valid
    guard let start = minilab_region_address(out, valid.left, valid.top) else { return -1 }
    let supplier = Unmanaged<RegionSupplier>.fromOpaque(client).takeUnretainedValue()
    let pixels = RegionPixels(
        area: PixelArea(valid), start: UnsafeMutableRawPointer(start),
        stride: minilab_region_stride(out))
    guard let problem = supplier.fill(pixels) else { return 0 }
    minilab_error(problem)
    return -1
}

private let copyField: VipsImageMapFn = { _, name, value, target in
    guard let target = target?.assumingMemoryBound(to: VipsImage.self) else { return nil }
    // The target's own fields, such as width and height, are kept.
    if vips_image_get_typeof(target, name) == 0 { vips_image_set(target, name, value) }
    return nil
}
