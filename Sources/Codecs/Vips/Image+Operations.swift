import CVips
public import Edits

extension Image {
    /// The severity at which a loader fails.
    public enum FailOn: String, Sendable {
        case truncated
        case error
        case warning
    }

    /// Opens a file with one named loader, without reading pixels.
    ///
    /// - Parameters:
    ///   - loader: libvips' nickname: `jpegload`, `pngload`, `heifload`, `webpload` …
    ///   - streaming: whether rows are requested only from top to bottom, once.
    ///   - options: the loader's own integers, such as the page.
    public static func open(
        _ file: Int32, loader: String, streaming: Bool, failOn: FailOn,
        options: [(String, Int)] = []
    ) throws(VipsError) -> Image {
        try Operation.run(
            loader + "_source",
            [
                ("source", .file(try .source(file))),
                ("access", .string(streaming ? "sequential" : "random")),
                ("fail_on", .string(failOn.rawValue)),
            ] + options.map { ($0.0, .int($0.1)) })
    }

    /// Clockwise quarter turns.
    public enum Turn: String, Sendable {
        case d90, d180, d270
    }

    /// Returns the image turned clockwise. Its rows need the source in another order.
    public func turned(_ turn: Turn) throws(VipsError) -> Image {
        try Operation.run("rot", [("in", .image(self)), ("angle", .string(turn.rawValue))])
    }

    /// Returns the image with left and right swapped; streams.
    public func mirrored() throws(VipsError) -> Image {
        try Operation.run("flip", [("in", .image(self)), ("direction", .string("horizontal"))])
    }

    /// Returns the image with top and bottom swapped.
    public func flipped() throws(VipsError) -> Image {
        try Operation.run("flip", [("in", .image(self)), ("direction", .string("vertical"))])
    }

    /// Returns a rectangle of the image; streams.
    public func cropped(to area: PixelArea) throws(VipsError) -> Image {
        try Operation.run(
            "extract_area",
            [
                ("input", .image(self)), ("left", .int(area.left)), ("top", .int(area.top)),
                ("width", .int(area.width)), ("height", .int(area.height)),
            ])
    }

    public func bands(from first: Int, count: Int) throws(VipsError) -> Image {
        try Operation.run(
            "extract_band", [("in", .image(self)), ("band", .int(first)), ("n", .int(count))])
    }

    /// Returns these channels, followed by those of another image of the same size.
    public func joined(with other: Image) throws(VipsError) -> Image {
        try Operation.run("bandjoin", [("in", .images([self, other]))])
    }

    /// Returns all samples multiplied by a number, in another format.
    public func scaled(by factor: Double, to format: SampleFormat) throws(VipsError) -> Image {
        let product = try Operation.run(
            "linear",
            [("in", .image(self)), ("a", .doubles([factor])), ("b", .doubles([0]))])
        return try Operation.run(
            "cast", [("in", .image(product)), ("format", .string(format.rawValue))])
    }

    /// Converts from the embedded profile, or from `fallback` without one, to sRGB by Little CMS.
    ///
    /// - Parameter fallback: libvips' name of a built-in profile: `srgb`, `cmyk`, `p3`.
    public func convertedToSRGB(fallback: String, bits: Int) throws(VipsError) -> Image {
        try Operation.run(
            "icc_transform",
            [
                ("in", .image(self)), ("output_profile", .string("srgb")),
                ("input_profile", .string(fallback)), ("embedded", .bool(true)),
                ("intent", .string("relative")), ("depth", .int(bits)),
            ])
    }

    /// Converts by libvips' own colour conversions: `srgb`, `rgb16`, `scrgb` …
    public func converted(to interpretation: String) throws(VipsError) -> Image {
        try Operation.run(
            "colourspace", [("in", .image(self)), ("space", .string(interpretation))])
    }

    /// Shrinks or enlarges to a size, regardless of the aspect, by libvips' averaging and Lanczos kernels on the stored numbers.
    /// The picture is not turned.
    public func resized(width: Int, height: Int) throws(VipsError) -> Image {
        try Operation.run(
            "thumbnail_image",
            [
                ("in", .image(self)), ("width", .int(width)), ("height", .int(height)),
                ("size", .string("force")), ("no_rotate", .bool(true)),
            ])
    }

    /// Shrinks a picture whose right and lower edges lie inside of its last column and row, as when a photo of odd sides is decoded
    /// at eighths of its size. Only the covered part becomes the result, so nothing is shifted.
    ///
    /// libvips shrinks whole pixels to whole pixels. So the edges are repeated up to a width of which, with some more columns of the
    /// result, a whole number of pixels is a whole number of columns; the surplus is cut off.
    ///
    /// - Parameter covered: the size of the covered part, at most a pixel less than the picture.
    /// - Returns: nil if no few more columns and rows make it whole: see ``marginMax``.
    public func resized(
        width: Int, height: Int, covered: (width: Double, height: Double)
    ) throws(VipsError) -> Image? {
        guard
            let across = Self.wholeMargin(from: self.width, covered: covered.width, to: width),
            let down = Self.wholeMargin(from: self.height, covered: covered.height, to: height)
        else { return nil }
        guard across != (self.width, width) || down != (self.height, height) else {
            return try resized(width: width, height: height)
        }
        let extended = try Operation.run(
            "embed",
            [
                ("in", .image(self)), ("x", .int(0)), ("y", .int(0)),
                ("width", .int(across.from)), ("height", .int(down.from)),
                ("extend", .string("copy")),
            ])
        return try extended.resized(width: across.to, height: down.to).cropped(
            to: PixelArea(left: 0, top: 0, width: width, height: height))
    }

    /// The most columns that are made beside those of the result.
    private static let marginMax = 64
    /// The greatest shift at the far edge, in pixels of the larger picture.
    private static let shiftMax = 0.05

    /// Returns sizes before and after shrinking that have the ratio of the covered part to the result.
    private static func wholeMargin(from size: Int, covered: Double, to result: Int)
        -> (from: Int, to: Int)?
    {
        let step = covered / Double(result)
        for margin in 0...marginMax {
            let exact = covered + Double(margin) * step
            let whole = exact.rounded()
            if abs(whole - exact) <= shiftMax, Int(whole) >= size {
                return (Int(whole), result + margin)
            }
        }
        return nil
    }

    /// Returns the image with text in black on white below it, at least `width` wide. Longer text is wrapped.
    public func labelled(_ text: String, width: Int) throws(VipsError) -> Image {
        // Escapes the markup's special characters, byte by byte: for Swift, one with an accent is another character.
        let bytes = text.utf8.flatMap { byte in
            switch byte {
            case UInt8(ascii: "&"): Array("&amp;".utf8)
            case UInt8(ascii: "<"): Array("&lt;".utf8)
            default: [byte]
            }
        }
        let escaped = String(decoding: bytes, as: UTF8.self)
        let mask = try Operation.run(
            "text",
            [
                ("text", .string(escaped)), ("font", .string("sans 10")),
                ("width", .int(width)), ("align", .string("centre")),
            ])
        let letters = try Operation.run("invert", [("in", .image(mask))])
        let line = try Operation.run(
            "gravity",
            [
                ("in", .image(letters)), ("direction", .string("centre")),
                ("width", .int(max(width, letters.width))),
                ("height", .int(max(Self.labelHeight, letters.height) + Self.labelMargin)),
                ("extend", .string("white")),
            ])
        return try Operation.run(
            "join",
            [
                ("in1", .image(self)), ("in2", .image(line)), ("direction", .string("vertical")),
                ("expand", .bool(true)), ("align", .string("centre")),
                ("background", .doubles([255])),
            ])
    }

    private static let labelHeight = 14
    private static let labelMargin = 8

    /// Arranges images in rows of `across`, centred in equal cells on white.
    public static func grid(_ images: [Image], across: Int, gap: Int) throws(VipsError) -> Image {
        try Operation.run(
            "arrayjoin",
            [
                ("in", .images(images)), ("across", .int(across)), ("shim", .int(gap)),
                ("background", .doubles([255, 255, 255])), ("halign", .string("centre")),
                ("valign", .string("centre")),
            ])
    }

    /// Computes all pixels into memory, so that rows can be read in any order.
    public func inMemory() throws(VipsError) -> Image {
        guard let copy = vips_image_copy_memory(pointer) else {
            throw VipsError.drainingBuffer(operation: "copy_memory")
        }
        return Image(adopting: copy)
    }
}

/// The shape of regions in which libvips should request pixels.
public enum RegionShape: Sendable {
    case rows
    case squares

    var hint: VipsDemandStyle {
        switch self {
        case .rows: VIPS_DEMAND_STYLE_THINSTRIP
        case .squares: VIPS_DEMAND_STYLE_SMALLTILE
        }
    }
}

/// The properties of a picture that Swift computes.
public struct RegionPicture: Sendable {
    public let width: Int, height: Int
    public let bands: Int
    public let format: Image.SampleFormat
    /// libvips' nickname of the samples' interpretation: `srgb`, `rgb16`, `scrgb` …
    public let interpretation: String
    /// The shape in which pixels are requested.
    public let shape: RegionShape

    public init(
        width: Int, height: Int, bands: Int, format: Image.SampleFormat, interpretation: String,
        shape: RegionShape = .rows
    ) {
        self.width = width
        self.height = height
        self.bands = bands
        self.format = format
        self.interpretation = interpretation
        self.shape = shape
    }

    func describe(_ image: UnsafeMutablePointer<VipsImage>) throws(VipsError) {
        image.pointee.Xsize = Int32(width)
        image.pointee.Ysize = Int32(height)
        image.pointee.Bands = Int32(bands)
        image.pointee.BandFmt = format.vips
        let nick = vips_enum_from_nick(
            "compute", minilab_interpretation_type(), interpretation)
        guard nick >= 0 else {
            throw VipsError.drainingBuffer(operation: "compute", arguments: interpretation)
        }
        image.pointee.Type = VipsInterpretation(numericCast(nick))
    }
}

extension Image {
    /// Returns a picture whose pixels `compute` makes from this one's, rectangle by rectangle, on demand.
    ///
    /// - Parameters:
    ///   - margins: an output rectangle at (x, y) reads this image at (x, y) with this additional width and height: 0 for a
    ///     per-pixel pass.
    ///   - compute: fills `output` from `input`. Several threads of libvips call it at once. It must not throw or block.
    public func computing(
        _ picture: RegionPicture, margins: (width: Int, height: Int) = (0, 0),
        _ compute: @escaping @Sendable (_ input: RegionPixels, _ output: RegionPixels) -> Void
    ) throws(VipsError) -> Image {
        try computing(
            picture,
            reading: { area in
                PixelArea(
                    left: area.left, top: area.top, width: area.width + margins.width,
                    height: area.height + margins.height)
            }, compute)
    }

    /// Returns such a picture that may read any regions.
    ///
    /// - Parameter reading: returns the rectangle of this image that an output rectangle needs; nil for none, in which case
    ///   `compute` receives an empty input.
    public func computing(
        _ picture: RegionPicture, reading: @escaping @Sendable (PixelArea) -> PixelArea?,
        _ compute: @escaping @Sendable (_ input: RegionPixels, _ output: RegionPixels) -> Void
    ) throws(VipsError) -> Image {
        let program = RegionProgram(input: self, reading: reading, compute: compute)
        return try computing(picture, Unmanaged.passRetained(program), generateRegion)
    }

    /// Returns a picture whose regions are computed by `generate`, with a region of this one.
    ///
    /// - Parameter program: passed to `generate` as its client; released with the picture.
    func computing<Program: AnyObject>(
        _ picture: RegionPicture, _ program: Unmanaged<Program>, _ generate: VipsGenerateFn
    ) throws(VipsError) -> Image {
        // The program also retains the input image. It is freed with the output image, after the last region: GObject calls the
        // destroy function when the object is finalised.
        guard let out = vips_image_new() else {
            program.release()
            throw VipsError.drainingBuffer(operation: "compute")
        }
        let image = Image(adopting: out)
        g_object_set_data_full(minilab_object(out), "minilab-program", program.toOpaque()) {
            guard let program = $0 else { return }
            Unmanaged<AnyObject>.fromOpaque(program).release()
        }
        guard minilab_pipeline(out, picture.shape.hint, pointer) == 0 else {
            throw VipsError.drainingBuffer(operation: "compute")
        }
        try picture.describe(out)
        guard
            vips_image_generate(
                out, vips_start_one, generate, vips_stop_one, pointer, program.toOpaque()) == 0
        else { throw VipsError.drainingBuffer(operation: "compute") }
        return image
    }
}

private final class RegionProgram: Sendable {
    let input: Image
    let reading: @Sendable (PixelArea) -> PixelArea?
    let compute: @Sendable (RegionPixels, RegionPixels) -> Void

    init(
        input: Image, reading: @escaping @Sendable (PixelArea) -> PixelArea?,
        compute: @escaping @Sendable (RegionPixels, RegionPixels) -> Void
    ) {
        self.input = input
        self.reading = reading
        self.compute = compute
    }
}

// libvips calls this on its own threads. It is at file scope of a library: in main.swift it would be isolated to the main actor and
// trap.
private let generateRegion: VipsGenerateFn = { out, sequence, _, client, _ in
    guard let out, let sequence, let client else { return -1 }
    let program = Unmanaged<RegionProgram>.fromOpaque(client).takeUnretainedValue()
    let input = sequence.assumingMemoryBound(to: VipsRegion.self)
    let valid = out.pointee.valid
    guard let target = minilab_region_address(out, valid.left, valid.top) else { return -1 }
    let output = RegionPixels(
        area: PixelArea(valid), start: UnsafeMutableRawPointer(target),
        stride: minilab_region_stride(out))
    guard let area = program.reading(output.area) else {
        let nothing = PixelArea(left: 0, top: 0, width: 0, height: 0)
        program.compute(
            RegionPixels(area: nothing, start: output.start, stride: 0), output)
        return 0
    }
    var needed = VipsRect(
        left: Int32(area.left), top: Int32(area.top), width: Int32(area.width),
        height: Int32(area.height))
    guard vips_region_prepare(input, &needed) == 0 else { return -1 }
    guard let source = minilab_region_address(input, needed.left, needed.top) else { return -1 }
    program.compute(
        RegionPixels(
            area: area, start: UnsafeMutableRawPointer(source),
            stride: minilab_region_stride(input)),
        output)
    return 0
}

extension PixelArea {
    init(_ rectangle: VipsRect) {
        self.init(
            left: Int(rectangle.left), top: Int(rectangle.top), width: Int(rectangle.width),
            height: Int(rectangle.height))
    }
}
