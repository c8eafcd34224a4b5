import Adjustments
import RenderProtocol
import Vips

/// A photo whose header is read and whose render is planned.
struct Photo {
    let file: PhotoFile
    let header: PhotoHeader
    /// In pixels of the full photo.
    let recipe: Recipe
    private let planned: Planner.Planned
    var plan: RenderPlan { planned.plan }
    /// Size of the picture that is written.
    var outputSize: PixelSize { planned.size }

    /// Decoded pixels up to this many bytes stay in memory where they are needed in any order;
    /// more go to a spool file.
    static let memorySpoolBytesMax = 96 << 20

    /// Reads the header, refuses what is too large, and plans.
    ///
    /// - Parameter resource: where the file of a digest is.
    init(
        _ path: String, recipe: Recipe, limits: RenderLimits,
        resource: @escaping @Sendable (String) throws(Failure) -> String
    ) throws(Failure) {
        VipsLibrary.forgetErrors()
        file = try PhotoFile(at: path)
        let image = try file.open(failOn: .truncated)
        header = file.header(of: image)
        guard header.storedSize.pixels <= limits.pixelsMax else {
            throw Failure(
                .tooManyPixels,
                "\(path) is \(header.storedSize) pixels; at most \(limits.pixelsMax) pixels are "
                    + "allowed. Send a smaller photo or raise the worker's limit.")
        }
        self.recipe = try recipe.scaled(to: header.uprightSize)
        planned = try Planner.plan(self.recipe, for: header, resource: resource)
    }

    /// Decodes, edits and writes it.
    ///
    /// - Parameters:
    ///   - spool: where a spool file may be while it is written.
    ///   - failOn: at what the decoder gives up.
    func write(to path: String, spool: String, failOn: Image.FailOn) throws(VipsError) {
        let opened = try Image.open(
            file.path, loader: file.format.loader, streaming: true, failOn: failOn)
        let standard = try StandardImage(opened)
        let image = try edited(standard, spool: spool)
        let tagged = try image.changing(
            [.setInt("orientation", 1), .remove("jpeg-thumbnail-data")]
                + (image.string("exif-ifd0-Orientation") == nil
                    ? []
                    : [
                        .setString(
                            "exif-ifd0-Orientation", "1 (Top-left, Short, 1 components, 2 bytes)")
                    ]))
        switch plan.format {
        case .jpeg:
            let isSubsampled = opened.string("jpeg-chroma-subsample") == "4:2:0"
            try tagged.writeJPEG(
                to: path, quality: max(1, Int((plan.quality * 100).rounded())),
                chroma: isSubsampled ? .on : .auto)
        case .png:
            try tagged.writePNG(to: path)
        }
    }

    private func edited(_ photo: StandardImage, spool: String) throws(VipsError) -> Image {
        let isDeep = photo.layout.sample == .encoded16 && plan.format == .png
        let hasAlpha = photo.layout.hasAlpha || planned.passes.contains { $0.makesAlpha }
        let keepsAlpha = hasAlpha && plan.format == .png
        let target = PixelProgram.Layout(
            sample: isDeep ? .encoded16 : .encoded8, bands: keepsAlpha ? 4 : 3)
        if planned.passes.count == 1, case .pixels(let filters) = planned.passes[0],
            header.orientation == 1 || !filters.contains(where: \.usesPosition)
        {
            // A filter of single pixels does the same before and after a turn; before is cheaper,
            // since the pixels then stream and what is spooled is final.
            let program = PixelProgram(
                source: photo.layout, filters: filters, target: target,
                height: photo.image.height, colour: photo.colour, chain: recipe.filters)
            return try upright(photo.image.running(program), spool: spool)
        }
        let image = try upright(photo.image, spool: spool)
        if planned.passes.count == 1, case .pixels(let filters) = planned.passes[0] {
            return try image.running(
                PixelProgram(
                    source: photo.layout, filters: filters, target: target,
                    height: image.height, colour: photo.colour))
        }
        return try RowPlan(
            passes: planned.passes, source: photo.layout, target: target, colour: photo.colour
        ).run(over: image)
    }

    /// Turned by its orientation. 1 and 2 stream; the others are computed first and then read in
    /// another order.
    private func upright(_ image: Image, spool: String) throws(VipsError) -> Image {
        // EXIF 2.32, tag 274.
        switch header.orientation {
        case 2: return try image.mirrored()
        case 3: return try image.inAnyOrder(spool: spool).turned(.d180)
        case 4: return try image.inAnyOrder(spool: spool).flipped()
        case 5: return try image.inAnyOrder(spool: spool).turned(.d90).mirrored()
        case 6: return try image.inAnyOrder(spool: spool).turned(.d90)
        case 7: return try image.inAnyOrder(spool: spool).turned(.d270).mirrored()
        case 8: return try image.inAnyOrder(spool: spool).turned(.d270)
        default: return image
        }
    }
}

extension Image {
    /// Computed now, in memory or in a file, so that any pixel can be read at any time.
    func inAnyOrder(spool: String) throws(VipsError) -> Image {
        byteCount <= Photo.memorySpoolBytesMax ? try inMemory() : try spooled(to: spool)
    }

    /// With a pixel program run over it.
    func running(_ program: PixelProgram) throws(VipsError) -> Image {
        try computing(program.target.picture(width: width, height: height)) {
            program.run($0, $1)
        }
    }
}

extension PixelProgram.Layout {
    /// How libvips holds such samples; it has no planes.
    func picture(width: Int, height: Int) -> RegionPicture {
        let (format, interpretation): (Image.SampleFormat, String) =
            switch sample {
            case .encoded8: (.uchar, "srgb")
            case .encoded16: (.ushort, "rgb16")
            case .linear: (.float, "scrgb")
            case .planes: preconditionFailure("planes are never a picture of libvips")
            }
        return RegionPicture(
            width: width, height: height, bands: bands, format: format,
            interpretation: interpretation)
    }
}
