public import Edits
import CVips

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
