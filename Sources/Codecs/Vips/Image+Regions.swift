public import Edits
import CVips

/// The shape of regions in which libvips should request pixels.
public enum RegionShape: Sendable {
    /// Full rows, few at a time.
    case rows
    /// Squares.
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
    /// Columns and rows of the result.
    public let width: Int, height: Int
    /// Channels of the result.
    public let bands: Int
    /// The storage format of a sample of the result.
    public let format: Image.SampleFormat
    /// libvips' nickname of the samples' interpretation: `srgb`, `rgb16`, `scrgb` …
    public let interpretation: String
    /// The shape in which pixels are requested.
    public let shape: RegionShape

    /// Makes a description.
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

    /// Writes the description into a header.
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
